/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/feedback.h>

#include "estimate.h"

struct config {
    const char *group;
    ss_time period;
};

static const struct ss_option options[] = {
    SS_OPTION(
        "group", TEXT, group, .help = "path of the control group; default: Showstopper's own"),
    ESTIMATE_OPTION_PERIOD,
    SS_OPTION_END,
};

static void request_source(const struct ss_self *self, struct ss_source_request *request) {
    const struct config *config = self->config;
    *request = (struct ss_source_request){.source = SS_SOURCE_CGROUP, .argument = config->group};
}

/*
 * Takes a sample without a bound on its growth: a quota holds over its own period, so in a short
 * time a group may use several times its allowance.
 */
static void take_sample(const struct ss_self *self, const struct ss_moment *moment,
    const struct ss_counters *counters) {
    const struct config *config = self->config;
    struct estimate_reading reading = {
        .counters = counters,
        .count = counters->used,
        .spacing = estimate_spacing(self),
    };
    estimate_sample(self, moment, &reading, config->period);
}

SS_MODULE_EXPORT const struct ss_feedback_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(feedback, FEEDBACK),
            .name = "cgroup",
            .summary = "the load of one control group, relative to its allowance",
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
