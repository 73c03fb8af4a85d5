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

/*
 * The baseline at one of its targets: means over its runs, and the range of the part of the machine
 * that other processes used.
 */
struct ssreport_knot {
    double load, throughput;
    double others_least, others_most; /* NaN if unknown */
};

/*
 * All points of one workload in one set and environment, sorted by method, target and load. The
 * baseline is n-bench, of either kind, or 1-CDC, whichever covers the wider range of loads.
 */
struct ssreport_methods {
    struct ssreport_method_point *points;
    size_t count;
    const struct ssreport_run *baseline; /* one of the baseline's runs; NULL if there is no
                                            baseline */

    struct ssreport_knot *knot; /* knots of the baseline, ordered by load; owned */
    size_t knots;
};

/* Groups the runs of the experiment throughput by set, environment and workload. */
SS_NONNULL(1) struct stats_groups ssreport_methods_group(const struct ssreport_report *report);

/* Finds the methods of one group. Returns -1 if memory is exhausted. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssreport_methods_of(struct ssreport_methods *methods,
    const struct ssreport_report *report, const struct stats_groups *groups, size_t group);

void ssreport_methods_free(struct ssreport_methods *methods);

/* Returns whether two runs have the same method, mean length of a round and variant. */
bool ssreport_methods_is_one(const struct ssreport_run *left, const struct ssreport_run *right);

/* Returns whether a run belongs to the baseline. */
bool ssreport_methods_is_baseline(
    const struct ssreport_methods *methods, const struct ssreport_run *run);

/*
 * Returns the deviation of a point from the baseline in percent; NaN if the point is outside of the
 * baseline, must not be compared, or there is no baseline.
 */
double ssreport_methods_deviation(
    const struct ssreport_methods *methods, const struct ssreport_method_point *point);

/* Describes a method: "pi-even, 107 ms, instances=2". */
SS_WRITES(1, 2)
void ssreport_methods_name(char *name, size_t size, const struct ssreport_run *run);

/*
 * Fills the tables methods and methods-deviation, and adds findings about steps that are not
 * compared. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1) int ssreport_methods_fill(struct ssreport_report *report);

/* Prints the pictures of all workloads. */
SS_NONNULL(1, 2)
void ssreport_methods_print(struct ssreport_page *page, const struct ssreport_report *report);

#endif
