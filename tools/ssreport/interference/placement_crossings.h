/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_CHANGES_H
#define SSREPORT_CHANGES_H

/* The best placement of two programs, and at which load of the background another one is better. */

#include "pairs.h"

#define SSREPORT_PLACEMENTS_MAX 16

/* A load at which lines cross. */
struct ssreport_change {
    size_t below, above;               /* the best placements there */
    double load;                       /* of the background, part of 1 */
    struct ssreport_interval interval; /* of it; infinite: no bound */
    bool is_clear;                     /* the interval is within the measured loads */
};

/*
 * A foreground next to a background in one environment, with every placement: a line
 * for each through the same steps at the same loads, so that differences of lines are lines of
 * differences.
 */
struct ssreport_placements {
    const struct ssreport_pair *pair; /* the first one of them */
    const char *names[SSREPORT_PLACEMENTS_MAX];
    size_t count;                                         /* of placements */
    size_t steps;                                         /* which all of them have */
    double *rounds;                                       /* of each such step; owned by `loads` */
    double *loads, *throughputs[SSREPORT_PLACEMENTS_MAX]; /* `loads` owns all */
    double means[SSREPORT_PLACEMENTS_MAX];                /* of the foreground, iterations per s */
    double least_load, most_load;

    size_t best, second;               /* by mean */
    double advantage;                  /* of the best over the second one, part of the latter */
    struct ssreport_interval interval; /* of the advantage */
    size_t by_rounds;                  /* so many rounds give the interval; 0: the steps do */
    bool is_clear;                     /* the interval of the advantage does not contain 0 */

    struct ssreport_change changes[SSREPORT_PLACEMENTS_MAX];
    size_t change_count;
};

/* Compares all pairs that differ from this one in placement and round only. -1: no memory. */
int ssreport_placements_compare(struct ssreport_placements *placements,
    const struct ssreport_report *report, const struct ssreport_pair *pair);

void ssreport_placements_free(struct ssreport_placements *placements);

#endif
