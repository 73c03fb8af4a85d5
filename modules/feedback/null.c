/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/feedback.h>

static void request_source(const struct ss_self *self, struct ss_source_request *request) {
    (void)self;
    *request = (struct ss_source_request){.source = SS_SOURCE_NONE};
}

static bool wants_sample(const struct ss_self *self, const struct ss_moment *moment) {
    (void)self;
    (void)moment;
    return false;
}

static void take_sample(const struct ss_self *self, const struct ss_moment *moment,
    const struct ss_counters *counters) {
    (void)self;
    (void)moment;
    (void)counters;
}

static bool get_estimate(const struct ss_self *self, const struct ss_moment *moment, double *load) {
    (void)self;
    (void)moment;
    (void)load;
    return false;
}

SS_MODULE_EXPORT const struct ss_feedback_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(feedback, FEEDBACK),
            .name = "null",
            .summary = "no estimate of the load: the duty is the target (for tests)",
        },
    .source = request_source,
    .wants_sample = wants_sample,
    .sample = take_sample,
    .estimate = get_estimate,
};
