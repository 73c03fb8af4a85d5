/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_UNDERLOAD_H
#define SSREPORT_UNDERLOAD_H

/*
 * Finds the rate up to which a service is underloaded, its power at that rate, and the savings and
 * losses between two levels.
 */

#include "group_by.h"
#include "report.h"

/* A service is underloaded if its mean and its 95th percentile are below these, in seconds. */
#define SSREPORT_UNDERLOADED_MEAN 1.0
#define SSREPORT_UNDERLOADED_P95  2.0

/* A set of CPUs that is busy for at least this part is saturated. */
#define SSREPORT_SATURATED 0.98

enum { SSREPORT_MEAN, SSREPORT_P95, SSREPORT_CRITERIA };

struct ssreport_rate_point;

/*
 * Finds the mean and the 95th percentile of all requests, in seconds; infinite if too many got no
 * answer. A whole run has recorded both, without refused requests. In a step, a request that failed
 * or was refused counts as longer than all successes, and at least as long as the timeout.
 */
SS_NONNULL()
void ssreport_point_times(const struct ssreport_rate_point *point, double times[SSREPORT_CRITERIA]);

/* Returns whether mean and 95th percentile of all requests are below their limits. */
SS_NONNULL() bool ssreport_point_is_underloaded(const struct ssreport_rate_point *point);

/* Returns "yes" if the busiest set of CPUs is saturated, "no" if not, "" if its load is NaN. */
const char *ssreport_describe_saturation(double busiest);

/* Returns the mean power while the run of a point sent no requests; NaN if unknown. */
SS_NONNULL() double ssreport_point_idle_watts(const struct ssreport_rate_point *point);

/* The rates at which values reach a limit; NaN if unknown. */
struct ssreport_limit {
    double last;     /* the last rate before the first one that reaches it */
    double first;    /* the first rate that reaches it */
    double crossing; /* where the line through both values crosses the limit */
};

/*
 * Finds the rates at which values reach a limit. `rates` must ascend. Infinite values reach any
 * limit, but have no crossing.
 */
SS_READS(1, 3)
SS_READS(2, 3)
struct ssreport_limit ssreport_limit_find(
    const double *rates, const double *values, size_t count, double limit);

/*
 * Finds the capacity of a series in one round: the rate at which mean or 95th percentile of all
 * requests cross their limit, or the last underloaded rate; NaN if unknown. Returns -1 if memory is
 * exhausted.
 */
SS_MUST_USE SS_NONNULL() int ssreport_series_capacity(double *capacity,
    const struct ssreport_report *report, const struct stats_groups *series, size_t group,
    double round);

/* Fills the tables of limits, idle states and savings. Returns -1 if memory is exhausted. */
SS_MUST_USE SS_NONNULL() int ssreport_underload_fill(struct ssreport_report *report);

#endif
