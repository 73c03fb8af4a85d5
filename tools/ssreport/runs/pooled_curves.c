/* SPDX-License-Identifier: Apache-2.0 */

/* Pools runs, each with one load, into curves. */

#include <math.h>
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
    if (run->steps.count > 0)
        memcpy(moved + steps->count, run->steps.items, run->steps.count * sizeof *moved);
    steps->items = moved;
    steps->count = count;
    return 0;
}

static void set_name(struct ssreport_run *pooled, const struct ssreport_run *one) {
    char name[512];
    const char *const parts[] = {one->workload, one->variant, one->method, one->trace,
        one->environment, one->measured_in,
        ssreport_is_word(one->experiment, "throughput") ? NULL : one->experiment};
    int used = snprintf(name, sizeof name, "all runs");
    for (size_t i = 0, shown = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i])
            used += snprintf(name + used, sizeof name - (size_t)used, "%s %.80s",
                shown++ > 0 ? "," : ":", parts[i]);
    }
    snprintf(name + used, sizeof name - (size_t)used, "%s", one->set == 0 ? "" : " (second set)");
    pooled->record.name = strdup(name);
    pooled->record.has_iterations = true;
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
    set_name(pooled, first);
    report->pooled_count++;
    return pooled->record.name ? ssreport_run_fit(pooled) : -1;
}

int ssreport_runs_pool(struct ssreport_report *report) {
    SS_OWNED(groups)
    struct stats_groups groups = ssreport_runs_group(report,
        SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_EXPERIMENT | SSREPORT_BY_WORKLOAD |
            SSREPORT_BY_METHOD | SSREPORT_BY_TRACE,
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
