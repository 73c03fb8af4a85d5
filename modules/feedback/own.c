/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/feedback.h>

#include "estimate.h"

struct config {
    ss_time period;
    double cpus;
};

static const struct ss_option options[] = {
    ESTIMATE_OPTION_PERIOD,
    SS_OPTION("cpus", NUMBER, cpus, .initial = "0", .min = "0", .max = "65536",
        .help = "number of CPUs that make 100 %; 0: all measured CPUs"),
    SS_OPTION_END,
};

/* Time between samples. A sample is the sum of what executors last read while they were awake. */
#define SPACING (12 * SS_MILLISECOND)

static void request_source(const struct ss_self *self, struct ss_source_request *request) {
    const struct config *config = self->config;
    *request = (struct ss_source_request){.source = SS_SOURCE_OWN, .cpus = config->cpus};
}

static bool wants_sample(const struct ss_self *self, const struct ss_moment *moment) {
    return estimate_wants_sample_after(self, moment, SPACING);
}

/*
 * Takes a sample without a bound on its growth: the time of a child may become known only when the
 * child ends.
 */
static void take_sample(const struct ss_self *self, const struct ss_moment *moment,
    const struct ss_counters *counters) {
    const struct config *config = self->config;
    struct estimate_reading reading = {
        .counters = counters,
        .count = counters->used,
        .spacing = SPACING,
    };
    estimate_sample(self, moment, &reading, config->period);
}

SS_MODULE_EXPORT const struct ss_feedback_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(feedback, FEEDBACK),
            .name = "own",
            .summary = "the load of the run's own processes, whatever else runs",
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
