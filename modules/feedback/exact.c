/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/feedback.h>

#include "estimate.h"

enum source {
    SOURCE_AUTO,
    SOURCE_RUNTIME,
    SOURCE_IDLE,
    SOURCE_STAT,
};

struct config {
    ss_time period;
    int source; /* enum source */
};

static const struct ss_option options[] = {
    ESTIMATE_OPTION_PERIOD,
    SS_OPTION("source", CHOICE, source, .initial = "auto", .choices = "auto runtime idle stat",
        .help =
            "runtime: the CPU time that processes used, as control groups count it; idle: the time "
            "that CPUs were not idle, from cpuidle and /proc/stat; stat: that time from /proc/stat "
            "alone, in steps of 10 ms; auto: the first of these that the system has"),
    SS_OPTION_END,
};

static void request_source(const struct ss_self *self, struct ss_source_request *request) {
    const struct config *config = self->config;
    static const enum ss_source sources[] = {
        [SOURCE_AUTO] = SS_SOURCE_RUNTIME,
        [SOURCE_RUNTIME] = SS_SOURCE_RUNTIME,
        [SOURCE_IDLE] = SS_SOURCE_IDLE,
        [SOURCE_STAT] = SS_SOURCE_SYSTEM,
    };
    *request = (struct ss_source_request){
        .source = sources[config->source],
        .required = config->source == SOURCE_RUNTIME,
    };
}

/*
 * Returns the shortest time between samples. Run time is cheap to read, but advances only at ticks,
 * so that sampling more often gains little. Idle time costs more to read, and may advance in steps
 * of 10 ms.
 */
static ss_time spacing(const struct ss_self *self, bool ran) {
    return estimate_scale(self, ran ? 12 * SS_MILLISECOND : 16 * SS_MILLISECOND);
}

static bool wants_sample(const struct ss_self *self, const struct ss_moment *moment) {
    const struct estimate *last = estimate_latest(self);
    return estimate_wants_sample_after(self, moment, spacing(self, last->ran));
}

static void take_sample(const struct ss_self *self, const struct ss_moment *moment,
    const struct ss_counters *counters) {
    const struct config *config = self->config;
    struct estimate_reading reading = {
        .counters = counters,
        .count = counters->ran ? counters->used : counters->idle,
        .idle = !counters->ran,
        .bounded = true,
        .spacing = spacing(self, counters->ran),
    };
    estimate_sample(self, moment, &reading, config->period);
}

SS_MODULE_EXPORT const struct ss_feedback_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(feedback, FEEDBACK),
            .name = "exact",
            .summary = "the load of the measured CPUs, by the best source available",
            .options = options,
            .config_size = sizeof(struct config),
            .run_memory = sizeof(struct estimate_run),
            .executor_memory = sizeof(struct estimate),
        },
    .source = request_source,
    .wants_sample = wants_sample,
    .sample = take_sample,
    .estimate = estimate_get,
    .account = estimate_account,
};
