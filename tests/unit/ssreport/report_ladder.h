/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_REPORT_LADDER_H
#define SHOWSTOPPER_TESTS_REPORT_LADDER_H

/* Makes runs and requests of the experiment loadline. */

#include <math.h>

#include "report.h"

#define LEVELS 11

/* A run of eleven levels up and down, with the throughput `work` and 0.1 % of noise. */
struct ladder {
    struct ssreport_step steps[2 * LEVELS];
    struct ssreport_power samples[2 * LEVELS]; /* of use_power() */
    struct ssreport_run run;
};

static inline double overlap(double load) {
    return 1000 * (load - 0.375 * load * load); /* hardware threads with a gain of 1.25 */
}

static inline double bent(double load) {
    return 1000 * (fmin(load, 0.75) + 0.25 * fmax(load - 0.75, 0));
}

static inline void climb(struct ladder *ladder, double (*work)(double load), double highest) {
    *ladder = (struct ladder){0};
    for (int i = 0; i < 2 * LEVELS; i++) {
        int level = i < LEVELS ? i : 2 * LEVELS - 1 - i;
        double load = highest * level / (LEVELS - 1), noise = level % 2 ? 0.001 : -0.001;
        ladder->steps[i] = (struct ssreport_step){.target = load,
            .half = i < LEVELS ? 1 : 2,
            .load = {.count = 10, .mean = load},
            .throughput = work(load) * exp(i < LEVELS ? noise : -noise)};
    }
    ladder->run.record.name = (char *)(uintptr_t) "ladder";
    ladder->run.experiment = (char *)(uintptr_t) "loadline";
    ladder->run.workload = (char *)(uintptr_t) "made";
    ladder->run.method = (char *)(uintptr_t) "independent";
    ladder->run.steps = (struct ssreport_steps){ladder->steps, 2 * LEVELS, 0};
    ladder->run.round = 1;
    ladder->run.at = 0.6;
}

/*
 * Each visit takes 1 s, with 50 W when idle and 150 W at full load; going down takes `more` watts
 * more.
 */
static inline void use_power(struct ladder *ladder, double more) {
    for (int i = 0; i < 2 * LEVELS; i++) {
        ladder->steps[i].from = i;
        ladder->steps[i].to = i + 1;
        ladder->samples[i] = (struct ssreport_power){.at = i + 1,
            .watts = 50 + 100 * ladder->steps[i].target + (i < LEVELS ? 0 : more),
            .seconds = 1};
    }
    ladder->run.energy = (struct ssreport_energy){.samples = ladder->samples, .count = 2 * LEVELS};
}

#define SECONDS 6 /* per level; the first and the last second are skipped */

struct service_record {
    struct ssreport_response_second seconds[LEVELS * SECONDS];
    struct ssreport_response_load loads[LEVELS * SECONDS];
    struct ssreport_responses responses;
};

/*
 * Fills the record of a service that is sent 0, 10 ... 100 requests per second, or 100 ... 0 if
 * `down`, and answers at most `capacity` of them.
 */
static inline void request_levels(struct service_record *record, double capacity, bool down) {
    *record = (struct service_record){0};
    for (int i = 0; i < LEVELS * SECONDS; i++) {
        int level = down ? LEVELS - 1 - i / SECONDS : i / SECONDS;
        double rate = 10 * level, noise = level % 2 ? 0.001 : -0.001;
        record->seconds[i] = (struct ssreport_response_second){.at = i + 1,
            .begin = i,
            .end = i + 1,
            .rate = rate,
            .due = rate,
            .completed = fmin(rate, capacity) * exp(down ? noise : -noise)};
        record->loads[i] = (struct ssreport_response_load){
            .at = i + 0.5, .cpu = NAN, .load = fmin(rate / capacity, 1)};
    }
    record->responses = (struct ssreport_responses){.title = "made",
        .name = (char *)(uintptr_t) "service",
        .experiment = (char *)(uintptr_t) "loadline",
        .workload = (char *)(uintptr_t) "serve",
        .seconds = record->seconds,
        .count = LEVELS * SECONDS,
        .loads = record->loads,
        .load_count = LEVELS * SECONDS,
        .edge = SSREPORT_EDGE_DEFAULT,
        .round = 1,
        .at = 0.6};
}

#endif
