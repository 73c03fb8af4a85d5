/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RUNS_TABLES_H
#define SSREPORT_RUNS_TABLES_H

#include "report.h"

/*
 * Fits curves to runs with one workload and method in one environment, and fills all tables except
 * `runs`. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1) int ssreport_runs_fill(struct ssreport_report *report);

/* Fills the table `runs`, which contains the notes of all topics: call this after all are built. */
SS_NONNULL(1) void ssreport_runs_list(struct ssreport_report *report);

extern const struct table_sheet ssreport_runs_tables[];

#endif
