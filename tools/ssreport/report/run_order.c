/* SPDX-License-Identifier: Apache-2.0 */
#include "run_order.h"

#include <stdlib.h>
#include <string.h>

#define SERIES                                                                                     \
    (SSREPORT_BY_SET | SSREPORT_BY_WORKLOAD | SSREPORT_BY_METHOD | SSREPORT_BY_TAU |               \
        SSREPORT_BY_TARGET | SSREPORT_BY_TRACE)

static int compare_environments(const struct ssreport_run *left, const struct ssreport_run *right) {
    return STATS_ORDER(strcmp(ssreport_run_environment(left), ssreport_run_environment(right)),
        ssreport_compare_words(left->measured_in, right->measured_in));
}

/* Runs with a workload are equal, and before the others. */
static int compare_commands(const struct ssreport_run *left, const struct ssreport_run *right) {
    if (left->workload || right->workload)
        return !left->workload - !right->workload;
    return STATS_ORDER(ssreport_compare_words(left->record.command, right->record.command),
        ssreport_compare_numbers(left->record.instance_count, right->record.instance_count));
}

int ssreport_run_compare(
    const struct ssreport_run *left, const struct ssreport_run *right, unsigned by) {
#define WORDS(member)   ssreport_compare_words(left->member, right->member)
#define NUMBERS(member) ssreport_compare_numbers(left->member, right->member)
    return STATS_ORDER(by & SSREPORT_BY_SET ? left->set - right->set : 0,
        by & SSREPORT_BY_ENVIRONMENT ? compare_environments(left, right) : 0,
        by & SSREPORT_BY_EXPERIMENT ? WORDS(experiment) : 0,
        by & SSREPORT_BY_WORKLOAD ? WORDS(workload) : 0,
        by & SSREPORT_BY_WORKLOAD ? WORDS(variant) : 0,
        by & SSREPORT_BY_FAMILY ? WORDS(workload) : 0, by & SSREPORT_BY_FAMILY ? WORDS(family) : 0,
        by & SSREPORT_BY_PLACEMENT ? WORDS(placement) : 0,
        by & SSREPORT_BY_METHOD ? WORDS(method) : 0, by & SSREPORT_BY_TAU ? NUMBERS(tau) : 0,
        by & SSREPORT_BY_TRACE ? WORDS(trace) : 0, by & SSREPORT_BY_TARGET ? NUMBERS(target) : 0,
        by & SSREPORT_BY_TARGET ? NUMBERS(axis) : 0, by & SSREPORT_BY_ROUND ? NUMBERS(round) : 0,
        by & SSREPORT_BY_SPEED ? NUMBERS(speed) : 0,
        by & SSREPORT_BY_CPUS ? NUMBERS(record.load_cpus) : 0,
        by & SSREPORT_BY_COMMAND ? compare_commands(left, right) : 0);
#undef WORDS
#undef NUMBERS
}

struct grouping {
    unsigned by;
    bool (*includes)(const struct ssreport_run *run, const void *context);
    const void *context;
};

static int compare(const void *left, const void *right, void *grouping) {
    return ssreport_run_compare(left, right, ((struct grouping *)grouping)->by);
}

static bool includes(const void *run, void *context) {
    const struct grouping *grouping = context;
    return !grouping->includes || grouping->includes(run, grouping->context);
}

struct stats_groups ssreport_runs_group(const struct ssreport_report *report, unsigned by,
    bool (*is_in)(const struct ssreport_run *run, const void *context), const void *context) {
    struct grouping grouping = {by, is_in, context};
    const struct stats_key key = {.size = sizeof *report->runs,
        .compare = compare,
        .includes = includes,
        .context = &grouping};
    return stats_group_by(report->runs, report->run_count, &key);
}

static int compare_pointers(const void *left, const void *right) {
    return ssreport_run_compare(*(struct ssreport_run *const *)left,
        *(struct ssreport_run *const *)right, SERIES | SSREPORT_BY_ROUND | SSREPORT_BY_SPEED);
}

struct ssreport_run **ssreport_series_of(
    const struct ssreport_report *report, const char *experiment) {
    struct ssreport_run **runs = calloc(report->run_count + 1, sizeof *runs);
    size_t count = 0;
    for (size_t i = 0; runs && i < report->run_count; i++) {
        if (ssreport_is_word(report->runs[i].experiment, experiment))
            runs[count++] = &report->runs[i];
    }
    if (runs)
        qsort(runs, count, sizeof *runs, compare_pointers);
    return runs;
}

bool ssreport_series_is_one(const struct ssreport_run *left, const struct ssreport_run *right) {
    return ssreport_run_compare(left, right, SERIES) == 0;
}
