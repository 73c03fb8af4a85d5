/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/feedback.h>

#include "estimate.h"

enum count {
    COUNT_IDLE,
    COUNT_TICKS,
};

enum steal {
    STEAL_WORK,
    STEAL_IDLE,
};

struct config {
    ss_time period;
    int count; /* enum count */
    int steal; /* enum steal */
};

static const struct ss_option options[] = {
    ESTIMATE_OPTION_PERIOD,
    SS_OPTION("count", CHOICE, count, .initial = "idle", .choices = "idle ticks",
        .help = "what to count: idle time, or busy ticks, which miss programs that run in step "
                "with the tick"),
    SS_OPTION("steal", CHOICE, steal, .initial = "work", .choices = "work idle",
        .help = "whether time taken by a hypervisor counts as work or as idle"),
    SS_OPTION_END,
};

static void request_source(const struct ss_self *self, struct ss_source_request *request) {
    (void)self;
    *request = (struct ss_source_request){.source = SS_SOURCE_SYSTEM};
}

/*
 * Returns the configured count. The idle counter excludes stolen time; the busy counter includes
 * it.
 */
static uint64_t choose_count(const struct config *config, const struct ss_counters *counters) {
    if (config->count == COUNT_IDLE)
        return config->steal == STEAL_IDLE ? counters->idle + counters->steal : counters->idle;
    return config->steal == STEAL_IDLE ? counters->busy_ticks - counters->steal
                                       : counters->busy_ticks;
}

static void take_sample(const struct ss_self *self, const struct ss_moment *moment,
    const struct ss_counters *counters) {
    const struct config *config = self->config;
    struct estimate_reading reading = {
        .counters = counters,
        .count = choose_count(config, counters),
        .idle = config->count == COUNT_IDLE,
        .bounded = true,
        .spacing = estimate_spacing(self),
    };
    estimate_sample(self, moment, &reading, config->period);
}

SS_MODULE_EXPORT const struct ss_feedback_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(feedback, FEEDBACK),
            .name = "realtime",
            .summary = "the load of the measured CPUs, from the system's counters",
            .options = options,
            .config_size = sizeof(struct config),
            .run_memory = sizeof(struct estimate_run),
            .executor_memory = sizeof(struct estimate),
        },
    .source = request_source,
    .wants_sample = estimate_wants_sample,
    .sample = take_sample,
    .estimate = estimate_get,
    .account = estimate_account,
};
