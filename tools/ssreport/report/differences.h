/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_DIFFERENCES_H
#define SSREPORT_DIFFERENCES_H

#include "report.h"

/*
 * Finds the columns of plans in which runs differ, the column along which figures are compared, and
 * the variants of runs and of records of requests. Call this after all records are read. Returns -1
 * if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL() int ssreport_differences_find(struct ssreport_report *report);

/* Returns whether runs differ in a column. */
SS_NONNULL()
bool ssreport_differences_have(const struct ssreport_differences *differences, const char *column);

/* Returns whether the axis is a load or a rate. */
SS_NONNULL() bool ssreport_differences_axis_is_load(const struct ssreport_differences *differences);

/*
 * Returns whether the variant of a run has a column: not those for which struct ssreport_run has a
 * member, those that follow from them, and the axis. Runs of one method with different numbers of
 * instances are different series, whatever the axis; those of nbench follow from its target.
 */
SS_NONNULL()
bool ssreport_differences_in_variant(
    const struct ssreport_differences *differences, const struct ssreport_run *run, size_t column);

/* Parses a number, ignoring a percent sign after it. Returns false for any other text. */
SS_NONNULL() bool ssreport_is_number(const char *text, double *number);

#endif
