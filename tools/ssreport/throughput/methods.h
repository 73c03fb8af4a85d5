/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_METHODS_H
#define SSREPORT_METHODS_H

/* Throughput at each load with each method, compared with a baseline without control. */

#include "group_by.h"
#include "page_parts.h"
#include "report.h"

/* A step of a run, as a point of its method. */
struct ssreport_method_point {
    const struct ssreport_run *run;
    const struct ssreport_step *step;
};

/* The baseline at one of its targets: means of its runs, and what others used during these. */
struct ssreport_knot {
    double load, throughput;
    double others_least, others_most; /* NaN: not known */
};

/*
 * All points of one workload in one set and environment, sorted by method, target and load. The
 * baseline is n-bench, of either kind, or 1-CDC, whichever covers the wider range of loads.
 */
struct ssreport_methods {
    struct ssreport_method_point *points;
    size_t count;
    const struct ssreport_run *baseline; /* one of its runs; NULL if absent */

    struct ssreport_knot *knot; /* of the baseline, by load; owned */
    size_t knots;
};

/* The runs of the experiment throughput, by set, environment and workload. */
SS_NONNULL(1) struct stats_groups ssreport_methods_group(const struct ssreport_report *report);

/* The methods of one group. -1: no memory. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssreport_methods_of(struct ssreport_methods *methods,
    const struct ssreport_report *report, const struct stats_groups *groups, size_t group);

void ssreport_methods_free(struct ssreport_methods *methods);

/* Whether two runs are of one method, with rounds of one length. */
bool ssreport_methods_is_one(const struct ssreport_run *left, const struct ssreport_run *right);

/* Whether a run is of the baseline. */
bool ssreport_methods_is_baseline(
    const struct ssreport_methods *methods, const struct ssreport_run *run);

/* The target of the run or, if that changes, of the step. */
double ssreport_methods_target(const struct ssreport_method_point *point);

/* The baseline at a load, interpolated between its targets. NaN: outside. */
double ssreport_methods_baseline(const struct ssreport_methods *methods, double load);

/* Whether others used so much more or less of the machine than with the baseline at this load that
 * both are not compared. */
bool ssreport_methods_is_forbidden(
    const struct ssreport_methods *methods, const struct ssreport_method_point *point);

/* By how many percent a point is off the baseline. NaN: it is outside, is not to be compared, or
 * there is no baseline. */
double ssreport_methods_deviation(
    const struct ssreport_methods *methods, const struct ssreport_method_point *point);

/* "pi-even, 107 ms" */
SS_WRITES(1, 2)
void ssreport_methods_name(char *name, size_t size, const struct ssreport_run *run);

/* Fills both tables and adds findings on steps that are not compared. -1: no memory. */
SS_MUST_USE SS_NONNULL(1) int ssreport_methods_fill(struct ssreport_report *report);

/* Pictures of all workloads, for a page. */
SS_NONNULL(1, 2)
void ssreport_methods_print(struct ssreport_page *page, const struct ssreport_report *report);

#endif
