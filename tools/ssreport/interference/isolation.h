/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_ISOLATION_H
#define SSREPORT_ISOLATION_H

/* The throughput of a program without a neighbor, from runs with the role `alone`. */

#include "report.h"

/* Other placements are compared with this one. */
#define SSREPORT_REFERENCE "per-chip"

struct ssreport_isolation {
    double throughput;                 /* iterations per second; NaN if it was not measured */
    struct ssreport_interval interval; /* interval of the mean over the runs or, with a single run,
                                          over the parts of this run; NaN if unknown */
    size_t runs;
};

/*
 * Returns the throughput of a run's program without a neighbor, in the run's environment. The value
 * is the same for all placements, so that they can be compared: measured in per-chip if possible,
 * otherwise the mean of all runs alone. Runs of other studies count only if the study has none.
 */
SS_NONNULL(1, 2)
struct ssreport_isolation ssreport_isolation_of(
    const struct ssreport_report *report, const struct ssreport_run *run);

/*
 * Returns the half-width of the interval, relative to the throughput; 0 if the interval is unknown.
 */
SS_NONNULL(1) double ssreport_isolation_error(const struct ssreport_isolation *isolation);

#endif
