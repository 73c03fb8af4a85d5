/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_STUDY_POINTS_H
#define SSREPORT_STUDY_POINTS_H

/* Runs of a study that differ only in their rounds, and figures over these rounds. */

#include "group_by.h"
#include "report.h"
#include "statistics.h"

/* Runs that agree in all columns except `round`. */
struct ssreport_study_point {
    const struct ssreport_run *first; /* the first of its runs */
    size_t series;                    /* number of the series, from 0 */
    double at;                        /* value of the axis; NaN without an axis */
    size_t rounds;
    const struct ssreport_run **runs; /* a run for each round, ordered by round; `runs` of the
                                         points owns the list */
    struct ssreport_mean load;        /* mean load, 0 to 1 */
    struct ssreport_mean throughput;  /* iterations per second */
    double bound; /* upper bound of the throughput if no iteration ended; otherwise NaN */
    struct ssreport_mean iteration; /* mean of the runs' mean iteration times, in seconds */

    /*
     * Throughput relative to that of the first series at this value, over the rounds that both
     * have.
     */
    struct ssreport_mean relative;
};

struct ssreport_study_points {
    struct ssreport_study_point *items; /* owned; ordered by series and value */
    size_t count;
    size_t series;
    const struct ssreport_run **runs; /* owned */
};

/*
 * Finds the points of all runs that hold one load; a run through several loads has no single
 * throughput. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL() int ssreport_study_points_find(
    struct ssreport_study_points *points, const struct ssreport_report *report);

void ssreport_study_points_free(struct ssreport_study_points *points);

/* Writes the columns of a series, such as "size=large"; "" without columns. */
SS_NONNULL()
void ssreport_study_series(
    char name[200], const struct ssreport_report *report, const struct ssreport_study_point *point);

#endif
