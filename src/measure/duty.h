/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_DUTY_H
#define SHOWSTOPPER_MEASURE_DUTY_H

#include "loop/board.h"

/*
 * The duty that is reported: the part of the time for which instances were allowed to run, as a
 * mean over the living ones. It is computed from permits, so it is the actual duty rather than the
 * last decision.
 */
struct ss_duty_meter {
    ss_time time; /* time of the previous call */
    struct ss_permission permission;
};

void ss_duty_begin(struct ss_duty_meter *meter, const struct ss_board *board, ss_time now);

/*
 * Returns the duty since the previous call, 0 to 1, and begins the next interval. NaN if no
 * instance is alive, or no time has passed.
 */
double ss_duty_take(struct ss_duty_meter *meter, const struct ss_board *board, ss_time now);

#endif
