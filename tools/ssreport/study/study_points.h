/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_STUDY_POINTS_H
#define SSREPORT_STUDY_POINTS_H

/* Runs of a study that differ in their rounds only, and figures over these rounds. */

#include "group_by.h"
#include "report.h"
#include "statistics.h"

/* Runs with the same columns but `round`. */
struct ssreport_study_point {
    const struct ssreport_run *first; /* of its runs */
    size_t series;                    /* number of the series, from 0 */
    double at;                        /* value of the axis; NaN without one */
    size_t rounds;
    const struct ssreport_run **runs; /* one for each round, by round; owned by the points */
    struct ssreport_mean load;        /* 0 to 1 */
    struct ssreport_mean throughput;  /* per second */
    double bound;                     /* of the throughput if no iteration ended; NaN otherwise */
    struct ssreport_mean iteration;   /* seconds: of the means of runs */

    /* Throughput relative to that of the first series at this value, of rounds that both have. */
    struct ssreport_mean relative;
};

struct ssreport_study_points {
    struct ssreport_study_point *items; /* owned; by series and value */
    size_t count;
    size_t series;
    const struct ssreport_run **runs; /* owned */
};

/*
 * Returns the points of all runs that hold one load: -1 without memory. A run through several loads
 * has no single throughput.
 */
SS_MUST_USE SS_NONNULL() int ssreport_study_points_find(
    struct ssreport_study_points *points, const struct ssreport_report *report);

void ssreport_study_points_free(struct ssreport_study_points *points);

/* Writes "size=large", the columns of a series; "" if it has none. */
SS_NONNULL()
void ssreport_study_series(
    char name[200], const struct ssreport_report *report, const struct ssreport_study_point *point);

#endif
