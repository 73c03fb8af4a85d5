/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment_order.h"

#include <stdlib.h>

#include "group_by.h"

static int compare_series(const struct ssreport_run *left, const struct ssreport_run *right) {
    return STATS_ORDER(left->set - right->set,
        ssreport_compare_words(left->workload, right->workload),
        ssreport_compare_words(left->method, right->method),
        ssreport_compare_numbers(left->tau, right->tau),
        ssreport_compare_numbers(left->target, right->target));
}

static int compare_runs(const void *left, const void *right) {
    const struct ssreport_run *one = *(struct ssreport_run *const *)left;
    const struct ssreport_run *other = *(struct ssreport_run *const *)right;
    return STATS_ORDER(compare_series(one, other),
        ssreport_compare_numbers(one->round, other->round),
        ssreport_compare_numbers(one->speed, other->speed));
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
