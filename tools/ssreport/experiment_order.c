/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment_order.h"

#include <stdlib.h>
#include <string.h>

/* Targets and lengths stand in a manifest with ten digits. */
#define SAME 1e-9

static int compare_numbers(double left, double right) {
    return (left > right + SAME) - (left < right - SAME);
}

static int compare_words(const char *left, const char *right) {
    return strcmp(left ? left : "", right ? right : "");
}

static int compare_series(const struct ssreport_run *left, const struct ssreport_run *right) {
    int order = left->set - right->set;
    if (order == 0)
        order = compare_words(left->workload, right->workload);
    if (order == 0)
        order = compare_words(left->method, right->method);
    if (order == 0)
        order = compare_numbers(left->tau, right->tau);
    return order ? order : compare_numbers(left->target, right->target);
}

static int compare_runs(const void *left, const void *right) {
    const struct ssreport_run *one = *(struct ssreport_run *const *)left;
    const struct ssreport_run *other = *(struct ssreport_run *const *)right;
    int order = compare_series(one, other);
    if (order == 0)
        order = compare_numbers(one->round, other->round);
    return order ? order : compare_numbers(one->speed, other->speed);
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
        qsort(runs, count, sizeof *runs, compare_runs);
    return runs;
}

bool ssreport_series_is_one(const struct ssreport_run *left, const struct ssreport_run *right) {
    return compare_series(left, right) == 0;
}
