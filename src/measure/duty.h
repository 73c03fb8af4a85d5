/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_DUTY_H
#define SHOWSTOPPER_MEASURE_DUTY_H

#include "loop/board.h"

/*
 * Duty as it is reported: the part of a time that instances were allowed to run, as a mean over
 * those that are alive. Taken from permits, so it is what was done, not what was last decided.
 */
struct ss_duty_meter {
    ss_time time; /* of the last look */
    struct ss_permission permission;
};

/* A time begins now. */
void ss_duty_begin(struct ss_duty_meter *meter, const struct ss_board *board, ss_time now);

/* From 0 to 1 since the last look; the next time begins. NaN: no instance is alive, or no time
 * passed. */
double ss_duty_take(struct ss_duty_meter *meter, const struct ss_board *board, ss_time now);

#endif
