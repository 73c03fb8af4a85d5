/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOADLINE_POWER_H
#define LOADLINE_POWER_H

/*
 * Power at equal parts of the maximum throughput. As in SPECpower, the parts are 100, 90 ... 10 %
 * of the throughput, not of the load, and idle.
 */

#include <stdbool.h>

#include <showstopper/contract.h>

#include "loadline.h"

#define LOADLINE_PARTS 11

struct loadline_part {
    double part;       /* part of the maximum throughput: 1, 0.9 ... 0.1, 0 */
    double throughput; /* operations per second */
    double watts;      /* interpolated between the levels */
    double per_joule;  /* operations per joule */
};

struct loadline_power {
    struct loadline_part parts[LOADLINE_PARTS];
    double per_joule; /* sum of the operations over the sum of the watts of all parts */
};

/* Returns false if the power at a level or of the idle machine is unknown. */
SS_MUST_USE SS_NONNULL() bool loadline_power_of(
    struct loadline_power *power, const struct loadline *line);

#endif
