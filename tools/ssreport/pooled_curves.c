/* SPDX-License-Identifier: Apache-2.0 */

/* Many runs, each at a load of its own, make one curve. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* What ran beside others is no throughput at its own load. */
static bool is_one(const struct ssreport_run *run) {
    return !run->role && run->record.has_iterations;
}

static bool belong_together(const struct ssreport_run *run, const struct ssreport_run *other) {
    return is_one(run) && is_one(other) && run->set == other->set &&
           ssreport_is_one_environment(run, other) &&
           ssreport_is_same(run->measured_in, other->measured_in) &&
           ssreport_is_same(run->experiment, other->experiment) &&
           ssreport_is_same(run->workload, other->workload) &&
           ssreport_is_same(run->method, other->method);
}

static int copy_steps(struct ssreport_run *together, const struct ssreport_run *run) {
    struct ssreport_steps *steps = &together->steps;
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

static void set_name(struct ssreport_run *together, const struct ssreport_run *one) {
    char name[512];
    const char *const parts[] = {one->workload, one->method, one->environment, one->measured_in,
        ssreport_is_word(one->experiment, "throughput") ? NULL : one->experiment};
    int used = snprintf(name, sizeof name, "all runs");
    for (size_t i = 0, shown = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i])
            used += snprintf(name + used, sizeof name - (size_t)used, "%s %.80s",
                shown++ > 0 ? "," : ":", parts[i]);
    }
    snprintf(name + used, sizeof name - (size_t)used, "%s", one->set == 0 ? "" : " (second set)");
    together->record.name = strdup(name);
    together->record.has_iterations = true;
}

/* All that belong to the one at `first`, unless an earlier one has taken them. */
static int put_together(struct ssreport_report *report, size_t first) {
    struct ssreport_run *together = &report->together[report->together_count];
    size_t runs = 0;
    *together = (struct ssreport_run){
        .set = report->runs[first].set, .confidence = report->settings.confidence, .others = NAN};
    for (size_t i = 0; i < report->run_count; i++) {
        if (!belong_together(&report->runs[first], &report->runs[i]))
            continue;
        if (i < first)
            return 0;
        runs++;
        if (copy_steps(together, &report->runs[i]) < 0)
            return -1;
    }
    if (runs < 2 || together->steps.count < 3) {
        ssreport_steps_free(&together->steps);
        return 0;
    }
    set_name(together, &report->runs[first]);
    report->together_count++;
    return together->record.name ? ssreport_run_fit(together) : -1;
}

int ssreport_report_put_together(struct ssreport_report *report) {
    report->together = calloc(report->run_count + 1, sizeof *report->together);
    for (size_t i = 0; report->together && i < report->run_count; i++) {
        if (put_together(report, i) < 0)
            return -1;
    }
    return report->together ? 0 : -1;
}
