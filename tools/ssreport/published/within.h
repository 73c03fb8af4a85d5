/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_WITHIN_H
#define SSREPORT_WITHIN_H

#include "report.h"

/*
 * Fills the table of how often a constant load stayed within 5 % of the target: a row for all runs,
 * then one per method, next to the published values. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1) int ssreport_within_fill(const struct ssreport_report *report);

/* Prints a line about all runs of the first set, if any. */
SS_NONNULL() void ssreport_within_print(FILE *stream, const struct ssreport_report *report);

#endif
