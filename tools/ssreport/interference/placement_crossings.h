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
    size_t below, above;               /* the best placements below and above this load */
    double load;                       /* load of the background, 0 to 1 */
    struct ssreport_interval interval; /* interval of `load`; its bounds may be infinite */
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
    double *loads, *throughputs[SSREPORT_PLACEMENTS_MAX]; /* `loads` owns all of these */
    double means[SSREPORT_PLACEMENTS_MAX]; /* mean throughput of the foreground, iterations per
                                              second */
    double least_load, most_load;

    size_t best, second;               /* indexes of the placements with the highest means */
    double advantage;                  /* advantage of the best placement over the second, relative
                                          to the second */
    struct ssreport_interval interval; /* interval of the advantage */
    size_t by_rounds; /* number of rounds from which the interval comes; 0: it comes from the
                         steps */
    bool is_clear;    /* the interval of the advantage does not contain 0 */

    struct ssreport_change changes[SSREPORT_PLACEMENTS_MAX];
    size_t change_count;
};

/*
 * Compares all pairs that differ from this one only in placement and round. Returns -1 if memory is
 * exhausted.
 */
int ssreport_placements_compare(struct ssreport_placements *placements,
    const struct ssreport_report *report, const struct ssreport_pair *pair);

void ssreport_placements_free(struct ssreport_placements *placements);

#endif
