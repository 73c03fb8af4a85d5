/* SPDX-License-Identifier: Apache-2.0 */

/* Pools runs, each with one load, into curves. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "run_order.h"
#include "runs_tables.h"

/*
 * Returns whether a run can be pooled. Beside another run, throughput does not depend on the run's
 * own load alone.
 */
static bool has_curve(const struct ssreport_run *run, const void *context) {
    (void)context;
    return !run->role && run->record.has_iterations;
}

static int copy_steps(struct ssreport_run *pooled, const struct ssreport_run *run) {
    struct ssreport_steps *steps = &pooled->steps;
    size_t count = steps->count + run->steps.count;
    struct ssreport_step *moved = reallocarray(steps->items, count + 1, sizeof *moved);
    if (!moved)
        return -1;
    for (size_t i = 0; i < run->steps.count; i++) {
        moved[steps->count + i] = run->steps.items[i];
        moved[steps->count + i].is_invalid = ssreport_run_is_invalid(run);
    }
    steps->items = moved;
    steps->count = count;
    return 0;
}

/* Returns whether runs of the report differ in this property. */
static bool differ(const struct ssreport_report *report, unsigned by) {
    for (size_t i = 1; i < report->run_count; i++) {
        if (ssreport_run_compare(&report->runs[0], &report->runs[i], by) != 0)
            return true;
    }
    return false;
}

/*
 * Names what distinguishes the runs from those of other pools. Returns -1 if memory is exhausted.
 */
static int set_name(const struct ssreport_report *report, struct ssreport_run *pooled,
    const struct ssreport_run *one) {
    char instances[40] = "", cpus[40] = "", tau[40] = "";
    size_t size, shown = 0;
    FILE *name = open_memstream(&pooled->record.name, &size);
    bool has_command = !one->workload && differ(report, SSREPORT_BY_COMMAND);
    if (has_command)
        snprintf(instances, sizeof instances, "%.0f instance%s", one->record.instance_count,
            one->record.instance_count == 1 ? "" : "s");
    if (differ(report, SSREPORT_BY_CPUS))
        snprintf(cpus, sizeof cpus, "%.4g CPU%s", one->record.load_cpus,
            one->record.load_cpus == 1 ? "" : "s");
    if (one->tau > 0 && differ(report, SSREPORT_BY_TAU))
        snprintf(tau, sizeof tau, "tau %g ms", 1000 * one->tau);
    const char *const parts[] = {has_command ? one->record.command : one->workload,
        *instances ? instances : NULL, *cpus ? cpus : NULL, one->variant, one->placement,
        one->method, *tau ? tau : NULL, one->trace, one->environment, one->measured_in,
        ssreport_is_word(one->experiment, "throughput") ? NULL : one->experiment};
    pooled->record.has_iterations = true;
    if (!name)
        return -1;
    fputs("all runs", name);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i])
            fprintf(name, "%s %.80s", shown++ > 0 ? "," : ":", parts[i]);
    }
    fputs(one->set == 0 ? "" : " (second set)", name);
    return fclose(name) == 0 ? 0 : -1;
}

static int pool_group(
    struct ssreport_report *report, const struct stats_groups *groups, size_t group) {
    struct ssreport_run *pooled = &report->pooled[report->pooled_count];
    const struct ssreport_run *first = &report->runs[groups->first[group]];
    size_t runs = 0;
    *pooled = (struct ssreport_run){
        .set = first->set, .confidence = report->settings.confidence, .others = NAN};
    for (size_t i = groups->first[group]; i < groups->items; i = groups->next[i], runs++) {
        if (copy_steps(pooled, &report->runs[i]) < 0)
            return -1;
    }
    if (runs < 2 || pooled->steps.count < 3) {
        ssreport_steps_free(&pooled->steps);
        return 0;
    }
    report->pooled_count++;
    return set_name(report, pooled, first) == 0 ? ssreport_run_fit(pooled) : -1;
}

int ssreport_runs_pool(struct ssreport_report *report) {
    SS_OWNED(groups)
    struct stats_groups groups = ssreport_runs_group(report,
        SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_EXPERIMENT | SSREPORT_BY_WORKLOAD |
            SSREPORT_BY_PLACEMENT | SSREPORT_BY_METHOD | SSREPORT_BY_TAU | SSREPORT_BY_TRACE |
            SSREPORT_BY_CPUS | SSREPORT_BY_COMMAND,
        has_curve, NULL);
    report->pooled = calloc(report->run_count + 1, sizeof *report->pooled);
    if (!report->pooled || !groups.first)
        return -1;
    for (size_t group = 0; group < groups.count; group++) {
        if (pool_group(report, &groups, group) < 0)
            return -1;
    }
    return 0;
}
