/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PLACEMENT_CROSSINGS_H
#define SSREPORT_PLACEMENT_CROSSINGS_H

/*
 * Finds the best placement of two programs, and the loads of the background at which another one
 * becomes better.
 */

#include "combined_throughput.h"
#include "curve.h"
#include "pairs.h"

#define SSREPORT_PLACEMENTS_MAX 16
#define SSREPORT_CHANGES_MAX    32

/* A load at which the best placement changes. */
struct ssreport_change {
    size_t below, above;               /* the best placements below and above this load */
    double load;                       /* load of the background, 0 to 1 */
    struct ssreport_interval interval; /* interval of `load`; its bounds may be infinite */
    bool is_clear;                     /* the interval is within the measured loads */
};

/* Values of the measure with one placement, in the steps that all placements have. */
struct ssreport_placed {
    const char *name;
    double *values, *foreground, *background; /* for each step: the measure and its two parts */
    double mean;                              /* mean of `values` */
};

/*
 * A foreground beside a background in one environment, with every placement, by one measure. All
 * placements have the same steps, loads and bandwidth, so that the difference of two curves is the
 * curve of the differences.
 */
struct ssreport_placements {
    const struct ssreport_pair *pair; /* the first of the compared pairs */
    enum ssreport_measure measure;
    struct ssreport_placed placed[SSREPORT_PLACEMENTS_MAX];
    size_t count;    /* number of placements */
    size_t steps;    /* number of steps that all placements have, ordered by load */
    double *rounds;  /* round of each step; owned by `loads` */
    double *loads;   /* load of each step; owns all arrays of this structure */
    double *weights; /* weights of the steps in a curve at one load */
    double least_load, most_load;
    double bandwidth; /* bandwidth of all curves, 0 to 1, or infinite */

    size_t best, second;               /* indexes of the placements with the highest means */
    double advantage;                  /* advantage of the best placement over the second, relative
                                          to the second */
    struct ssreport_interval interval; /* interval of the advantage */
    size_t by_rounds; /* number of rounds from which the interval comes; 0: it comes from the
                         steps */
    bool is_clear;    /* the interval of the advantage does not contain 0 */

    struct ssreport_change changes[SSREPORT_CHANGES_MAX];
    size_t change_count;
};

/*
 * Compares all pairs that differ from this one only in placement and round. Without two placements
 * in which the measure is known, `count` is below 2. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssreport_placements_compare(
    struct ssreport_placements *placements, const struct ssreport_report *report,
    const struct ssreport_pair *pair, enum ssreport_measure measure);

SS_NONNULL(1) void ssreport_placements_free(struct ssreport_placements *placements);

#endif
