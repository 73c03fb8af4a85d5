/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_UNDERLOAD_H
#define SSREPORT_UNDERLOAD_H

/*
 * Up to which rate a service is underloaded, what power it needs there, and what is saved and lost
 * between two levels of a service.
 */

#include "report.h"

/* A service is underloaded if its mean and its 95th percentile are below these, in seconds. */
#define SSREPORT_UNDERLOADED_MEAN 1.0
#define SSREPORT_UNDERLOADED_P95  2.0

/* CPUs that are busy for at least this part are saturated. */
#define SSREPORT_SATURATED 0.98

/* The rate at which a value exceeds a limit; NaN if unknown. */
struct ssreport_limit {
    double last;     /* the last rate before the first that exceeds it */
    double first;    /* the first rate that does */
    double crossing; /* between both, on the line through their values */
};

/*
 * Finds the limit of values at ascending rates. Infinite values exceed any limit, but have no
 * crossing.
 */
SS_READS(1, 3)
SS_READS(2, 3)
struct ssreport_limit ssreport_limit_find(
    const double *rates, const double *values, size_t count, double limit);

/* Fills the tables of limits, power and savings. Returns -1 if memory is exhausted. */
SS_MUST_USE SS_NONNULL() int ssreport_underload_fill(struct ssreport_report *report);

#endif
