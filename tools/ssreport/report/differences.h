/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_DIFFERENCES_H
#define SSREPORT_DIFFERENCES_H

#include "report.h"

/*
 * Finds the columns of plans in which runs differ, the one along which figures are compared, and
 * the variant of each run. Call it after all records are read. -1: no memory.
 */
SS_MUST_USE SS_NONNULL() int ssreport_differences_find(struct ssreport_report *report);

/* Returns whether a text is a number, which may have a percent sign, and the number. */
SS_NONNULL() bool ssreport_is_number(const char *text, double *number);

#endif
