/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_REPORT_PAIRS_H
#define SHOWSTOPPER_TESTS_REPORT_PAIRS_H

/* Synthetic pairs of runs. */

#include "report_make.h"

#define STEPS       6
#define STEP_LENGTH 10 /* seconds */

/* Describes one pair. Throughputs per second must be multiples of 0.1. */
struct made_pair {
    const char *environment, *placement, *foreground, *background;
    double round;
    double throughputs[STEPS]; /* of the foreground */
    double background_throughput;
};

/* Returns the load of a step; the staircase goes 90, 60, 30 % and back up. */
static inline double made_load(size_t step) {
    return 0.1 * (double)(step < STEPS / 2 ? 9 - 3 * step : 3 * step - 6);
}

static inline struct ssreport_run *made_run(
    struct ssreport_report *report, const struct made_pair *pair, const char *role) {
    report->runs = reallocarray(report->runs, report->run_count + 1, sizeof *report->runs);
    struct ssreport_run *run = &report->runs[report->run_count++];
    char group[200];
    snprintf(group, sizeof group, "%s-%s-%s-%s-%g", pair->environment, pair->placement,
        pair->foreground, pair->background, pair->round);
    *run = (struct ssreport_run){.round = pair->round,
        .environment = strdup(pair->environment),
        .placement = strdup(pair->placement),
        .role = strdup(role),
        .group = strdup(group),
        .workload = strdup(strcmp(role, "foreground") == 0 ? pair->foreground : pair->background)};
    run->record.name = strdup(group);
    run->record.has_iterations = true;
    run->record.first_end = INFINITY;
    run->record.samples = calloc(1, sizeof *run->record.samples);
    run->record.samples[0].end = STEP_LENGTH * STEPS;
    run->record.sample_count = 1;
    return run;
}

static inline void add_made_pair(struct ssreport_report *report, const struct made_pair *pair) {
    struct ssreport_run *run = made_run(report, pair, "background");
    run->steps.items = calloc(STEPS, sizeof *run->steps.items);
    run->steps.count = STEPS;
    for (size_t i = 0; i < STEPS; i++)
        run->steps.items[i] = (struct ssreport_step){.from = (double)(STEP_LENGTH * i),
            .to = (double)(STEP_LENGTH * (i + 1)),
            .target = made_load(i),
            .load = {.mean = made_load(i)},
            .half = i < STEPS / 2 ? 1 : 2,
            .throughput = pair->background_throughput};
    run = made_run(report, pair, "foreground");
    for (size_t i = 0; i < STEPS; i++) {
        size_t count = (size_t)lround(STEP_LENGTH * pair->throughputs[i]);
        size_t before = run->record.iteration_count;
        run->record.iterations = reallocarray(
            run->record.iterations, before + count + 1, sizeof *run->record.iterations);
        for (size_t j = 0; j < count; j++)
            run->record.iterations[before + j] = (struct ssreport_iteration){
                (double)(STEP_LENGTH * i) + 10.0 * (double)j / (double)count,
                (double)(STEP_LENGTH * i) + 10.0 * (double)(j + 1) / (double)count};
        run->record.iteration_count = before + count;
    }
}

#endif
