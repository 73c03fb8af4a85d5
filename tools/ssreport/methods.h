/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_METHODS_H
#define SSREPORT_METHODS_H

/* Throughput at each load with each method, compared with a baseline without control. */

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
    const struct ssreport_run *baseline; /* one of its runs; NULL: there is none */

    struct ssreport_knot *knot; /* of the baseline, by load; owned */
    size_t knots;
};

/* Those of the workload of `run`, which is of the experiment throughput. -1: no memory. */
int ssreport_methods_of(struct ssreport_methods *methods, const struct ssreport_report *report,
    const struct ssreport_run *run);

void ssreport_methods_free(struct ssreport_methods *methods);

/* Whether a run is a point of such a group at all, and whether it is the first of its own. */
bool ssreport_methods_is_first(const struct ssreport_report *report, size_t run);

/* Whether two runs are of one method, with rounds of one length. */
bool ssreport_methods_is_one(const struct ssreport_run *left, const struct ssreport_run *right);

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

/* Pictures of all workloads, for a page. */
void ssreport_methods_print(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without);

#endif
