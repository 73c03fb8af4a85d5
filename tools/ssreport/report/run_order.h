/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RUN_ORDER_H
#define SSREPORT_RUN_ORDER_H

/* Which runs are alike: they are grouped and ordered by properties that a manifest gives them. */

#include "group_by.h"
#include "report.h"

enum {
    SSREPORT_BY_SET = 1 << 0,
    SSREPORT_BY_ENVIRONMENT = 1 << 1, /* and where it was measured */
    SSREPORT_BY_EXPERIMENT = 1 << 2,
    SSREPORT_BY_WORKLOAD = 1 << 3,
    SSREPORT_BY_PLACEMENT = 1 << 4,
    SSREPORT_BY_METHOD = 1 << 5,
    SSREPORT_BY_TAU = 1 << 6,
    SSREPORT_BY_TARGET = 1 << 7,
    SSREPORT_BY_ROUND = 1 << 8,
    SSREPORT_BY_SPEED = 1 << 9,
};

/* Orders two runs by these properties, the first of the list first; 0: they are the same in all. */
SS_NONNULL(1, 2)
int ssreport_run_compare(
    const struct ssreport_run *left, const struct ssreport_run *right, unsigned by);

/* Runs that are the same in these properties; `includes` may be NULL. */
SS_NONNULL(1)
struct stats_groups ssreport_runs_group(const struct ssreport_report *report, unsigned by,
    bool (*includes)(const struct ssreport_run *run, const void *context), const void *context);

/*
 * The runs of an experiment by set, workload, method, mean round, target, number of the repetition,
 * and speed; NULL after the last. The caller frees the list. NULL: no memory.
 */
SS_NONNULL(1, 2)
struct ssreport_run **ssreport_series_of(
    const struct ssreport_report *report, const char *experiment);

/* Whether two runs of it differ in number and speed only. */
SS_NONNULL(1, 2)
bool ssreport_series_is_one(const struct ssreport_run *left, const struct ssreport_run *right);

#endif
