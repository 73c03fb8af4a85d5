/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_WITHIN_H
#define SSREPORT_WITHIN_H

#include "report.h"

/*
 * Fills the tables of how often the mean error of a constant load or a replay was at most the
 * published one: a row for all methods of Showstopper, then one per method, next to the published
 * values. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1) int ssreport_within_fill(const struct ssreport_report *report);

/* Prints a sentence about Showstopper's runs of the first set, if any, from such a table. */
SS_NONNULL() void ssreport_within_print(FILE *stream, const struct table_sheet *sheet);

#endif
