/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_SERIES_H
#define SSREPORT_SERIES_H

#include "report.h"

/*
 * The runs that a manifest says are of one experiment, in the order of set, workload, method, mean
 * round, target, number of the repetition, and speed; NULL after the last. The caller frees it.
 * NULL: no memory.
 */
struct ssreport_run **ssreport_series_of(
    const struct ssreport_report *report, const char *experiment);

/* Whether two runs differ in nothing but number and speed. */
bool ssreport_series_is_one(const struct ssreport_run *left, const struct ssreport_run *right);

#endif
