/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RUN_ORDER_H
#define SSREPORT_RUN_ORDER_H

/* Groups and orders runs by properties from a manifest. */

#include "group_by.h"
#include "report.h"

enum {
    SSREPORT_BY_SET = 1 << 0,
    SSREPORT_BY_ENVIRONMENT = 1 << 1, /* including the place of the measurement */
    SSREPORT_BY_EXPERIMENT = 1 << 2,
    SSREPORT_BY_WORKLOAD = 1 << 3, /* including the variant */
    SSREPORT_BY_FAMILY = 1 << 4,   /* the workload and its variant, with any number of instances */
    SSREPORT_BY_PLACEMENT = 1 << 5,
    SSREPORT_BY_METHOD = 1 << 6,
    SSREPORT_BY_TAU = 1 << 7,
    SSREPORT_BY_TRACE = 1 << 8,
    SSREPORT_BY_TARGET = 1 << 9, /* including the value of the axis */
    SSREPORT_BY_ROUND = 1 << 10,
    SSREPORT_BY_SPEED = 1 << 11,
    SSREPORT_BY_CPUS = 1 << 12,    /* number of CPUs that are busy at a load of 1 */
    SSREPORT_BY_COMMAND = 1 << 13, /* of runs without a workload: command, number of instances */
};

/* Compares two runs by these properties, in the order of the enum. */
SS_NONNULL(1, 2)
int ssreport_run_compare(
    const struct ssreport_run *left, const struct ssreport_run *right, unsigned by);

/* Groups runs that agree in these properties; `includes` may be NULL. */
SS_NONNULL(1)
struct stats_groups ssreport_runs_group(const struct ssreport_report *report, unsigned by,
    bool (*includes)(const struct ssreport_run *run, const void *context), const void *context);

/*
 * Returns the runs of an experiment, ordered by set, workload, method, mean length of a round,
 * trace, target, repetition and speed. The list ends with NULL; the caller frees it. Returns NULL
 * if memory is exhausted.
 */
SS_NONNULL(1, 2)
struct ssreport_run **ssreport_series_of(
    const struct ssreport_report *report, const char *experiment);

/* Returns whether two runs of an experiment differ at most in repetition and speed. */
SS_NONNULL(1, 2)
bool ssreport_series_is_one(const struct ssreport_run *left, const struct ssreport_run *right);

#endif
