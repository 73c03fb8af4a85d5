/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_CHANGES_H
#define SSREPORT_CHANGES_H

/*
 * Finds the best placement of two programs, and the loads of the background at which another one
 * becomes better.
 */

#include "pairs.h"

#define SSREPORT_PLACEMENTS_MAX 16

/* A load at which the best placement changes. */
struct ssreport_change {
    size_t below, above;               /* the best placements below and above it */
    double load;                       /* of the background, 0 to 1 */
    struct ssreport_interval interval; /* of `load`; infinite bounds if unbounded */
    bool is_clear;                     /* the interval is within the measured loads */
};

/*
 * A foreground next to a background in one environment, with every placement. Each placement has a
 * line through the same steps at the same loads, so that differences of lines are lines of
 * differences.
 */
struct ssreport_placements {
    const struct ssreport_pair *pair; /* the first of the compared pairs */
    const char *names[SSREPORT_PLACEMENTS_MAX];
    size_t count;   /* number of placements */
    size_t steps;   /* number of steps that all placements have */
    double *rounds; /* round of each step; owned by `loads` */
    double *loads, *throughputs[SSREPORT_PLACEMENTS_MAX]; /* `loads` owns all */
    double means[SSREPORT_PLACEMENTS_MAX]; /* of the foreground, iterations per second */
    double least_load, most_load;

    size_t best, second;               /* by mean */
    double advantage;                  /* of the best over the second, relative to the latter */
    struct ssreport_interval interval; /* of the advantage */
    size_t by_rounds; /* number of rounds that give the interval; 0: the steps give it */
    bool is_clear;    /* the interval of the advantage does not contain 0 */

    struct ssreport_change changes[SSREPORT_PLACEMENTS_MAX];
    size_t change_count;
};

/*
 * Compares all pairs that differ from this one only in placement and round. Returns -1 if out of
 * memory.
 */
int ssreport_placements_compare(struct ssreport_placements *placements,
    const struct ssreport_report *report, const struct ssreport_pair *pair);

void ssreport_placements_free(struct ssreport_placements *placements);

#endif
