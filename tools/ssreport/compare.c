/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "report.h"

/* Two targets that differ by less are one level. */
#define SAME_LEVEL 1e-4

// clang-format off
static const struct ssreport_column comparison_columns[] = {
    {"steps", "steps compared"}, {"ratio_min", "least ratio", 4}, {"ratio_median", "median", 4},
    {"ratio_max", "largest", 4}, {"left_out", "steps left out"},
};
static const struct ssreport_column ratio_columns[] = {
    {"target", "target, %", 2, true}, {"occurrence", "occurrence"},
    {"iterations_per_second", "throughput, /s", 4}, {"iterations_per_second_against", "against, /s", 4},
    {"ratio", "ratio", 4},
};
// clang-format on

/* The n-th time that a level is held in a run; throughput summed up over the runs of each set. */
struct level {
    double target;
    size_t occurrence; /* from 1 */
    double sums[2];
    size_t counts[2];
};

struct levels {
    struct level *items;
    size_t count;
};

static struct level *find_level(struct levels *levels, double target, size_t occurrence) {
    for (size_t i = 0; i < levels->count; i++) {
        if (fabs(levels->items[i].target - target) < SAME_LEVEL &&
            levels->items[i].occurrence == occurrence)
            return &levels->items[i];
    }
    struct level *moved = reallocarray(levels->items, levels->count + 1, sizeof *levels->items);
    if (!moved)
        return NULL;
    levels->items = moved;
    moved[levels->count] = (struct level){.target = target, .occurrence = occurrence};
    return &moved[levels->count++];
}

static size_t count_before(const struct ssreport_steps *steps, size_t at) {
    size_t count = 0;
    for (size_t i = 0; i < at; i++)
        count += fabs(steps->items[i].target - steps->items[at].target) < SAME_LEVEL;
    return count;
}

static void add_run(struct levels *levels, const struct ssreport_run *run) {
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        struct level *level = find_level(levels, step->target, count_before(&run->steps, i) + 1);
        if (!level || !isfinite(step->throughput))
            continue;
        level->sums[run->set] += step->throughput;
        level->counts[run->set]++;
    }
}

static double ratio_of(const struct level *level) {
    double first = level->sums[0] / (double)level->counts[0];
    double second = level->sums[1] / (double)level->counts[1];
    return second > 0 ? first / second : NAN;
}

static void add_ratios(struct ssreport_report *report, const struct levels *levels) {
    struct ssreport_sheet *ratios = &report->sheets[SSREPORT_RATIOS];
    struct ssreport_sheet *comparison = &report->sheets[SSREPORT_COMPARISON];
    double *values = calloc(levels->count + 1, sizeof *values);
    size_t used = 0;
    if (!values) {
        ratios->failed = true;
        return;
    }
    for (size_t i = 0; i < levels->count; i++) {
        const struct level *level = &levels->items[i];
        double ratio = ratio_of(level);
        SSREPORT_NUMBERS(ratios, level->target, (double)level->occurrence);
        for (int set = 0; set < 2; set++)
            SSREPORT_NUMBERS(ratios, level->sums[set] / (double)level->counts[set]);
        SSREPORT_NUMBERS(ratios, ratio);
        if (isfinite(ratio))
            values[used++] = ratio;
    }
    double median = ssreport_median_of(values, used);
    SSREPORT_NUMBERS(comparison, (double)used, used ? values[0] : NAN, median,
        used ? values[used - 1] : NAN, (double)(levels->count - used));
    free(values);
}

void ssreport_report_compare(struct ssreport_report *report) {
    struct levels levels = {0};
    report->sheets[SSREPORT_COMPARISON] =
        SSREPORT_SHEET("comparison", "Throughput, ratio of both sets", comparison_columns);
    report->sheets[SSREPORT_RATIOS] =
        SSREPORT_SHEET("ratios", "Throughput of both sets, step by step", ratio_columns);
    if (!report->compares)
        return;
    for (size_t i = 0; i < report->run_count; i++)
        add_run(&levels, &report->runs[i]);
    add_ratios(report, &levels);
    free(levels.items);
}
