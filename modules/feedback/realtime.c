/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <showstopper/feedback.h>

#include "estimate.h"

enum count {
    COUNT_IDLE,
    COUNT_TICKS,
    COUNT_RATIO,
};

enum iowait {
    IOWAIT_IDLE,
    IOWAIT_WORK,
};

enum steal {
    STEAL_WORK,
    STEAL_IDLE,
};

struct config {
    ss_time period;
    int count;  /* enum count */
    int iowait; /* enum iowait */
    int steal;  /* enum steal */
};

static const struct ss_option options[] = {
    ESTIMATE_OPTION_PERIOD,
    SS_OPTION("count", CHOICE, count, .initial = "idle", .choices = "idle ticks ratio",
        .help = "idle: the load is the fraction of time that is not idle time; ticks: busy ticks "
                "over elapsed time, which miss programs that run in step with the tick; ratio: "
                "busy ticks over the sum of busy ticks and idle time, as published"),
    SS_OPTION("iowait", CHOICE, iowait, .initial = "idle", .choices = "idle work",
        .help = "whether time in which a CPU has nothing to do but wait for a disk counts as idle "
                "or as work"),
    SS_OPTION("steal", CHOICE, steal, .initial = "work", .choices = "work idle",
        .help = "whether time taken by a hypervisor counts as work or as idle"),
    SS_OPTION_END,
};

static void request_source(const struct ss_self *self, struct ss_source_request *request) {
    (void)self;
    *request = (struct ss_source_request){.source = SS_SOURCE_SYSTEM};
}

/* Returns the time that counts as idle. The idle counter excludes stolen time. */
static uint64_t count_idle(const struct config *config, const struct ss_counters *counters) {
    uint64_t idle = counters->idle;
    if (config->iowait == IOWAIT_WORK)
        idle -= counters->iowait;
    return config->steal == STEAL_IDLE ? idle + counters->steal : idle;
}

/* Returns the ticks that count as work. The busy counter includes stolen time, but no iowait. */
static uint64_t count_work(const struct config *config, const struct ss_counters *counters) {
    uint64_t work = counters->busy_ticks;
    if (config->iowait == IOWAIT_WORK)
        work += counters->iowait;
    return config->steal == STEAL_IDLE ? work - counters->steal : work;
}

static void take_sample(const struct ss_self *self, const struct ss_moment *moment,
    const struct ss_counters *counters) {
    const struct config *config = self->config;
    uint64_t idle = count_idle(config, counters), work = count_work(config, counters);
    struct estimate_reading reading = {
        .counters = counters,
        .count = config->count == COUNT_IDLE ? idle : work,
        .total = config->count == COUNT_RATIO ? idle + work : 0,
        .idle = config->count == COUNT_IDLE,
        .bounded = true,
        .spacing = estimate_spacing(self),
    };
    estimate_sample(self, moment, &reading, config->period);
}

/* Reports options that make the load differ from that of the statistics. */
static void describe(
    const struct ss_self *self, const struct ss_rhythm *rhythm, char *buffer, size_t size) {
    static const char *const counts[] = {
        [COUNT_IDLE] = "idle time",
        [COUNT_TICKS] = "busy ticks over elapsed time",
        [COUNT_RATIO] = "busy ticks over busy ticks and idle time",
    };
    const struct config *config = self->config;

    (void)rhythm;
    if (config->count == COUNT_IDLE && config->iowait == IOWAIT_IDLE && config->steal == STEAL_WORK)
        return;

    snprintf(buffer, size,
        "the load is measured by %s, with iowait as %s and steal as %s; the statistics differ: "
        "they use idle time, with iowait as idle and steal as work",
        counts[config->count], config->iowait == IOWAIT_WORK ? "work" : "idle",
        config->steal == STEAL_IDLE ? "idle" : "work");
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
            .describe = describe,
        },
    .source = request_source,
    .wants_sample = estimate_wants_sample,
    .sample = take_sample,
    .estimate = estimate_get,
    .account = estimate_account,
};
