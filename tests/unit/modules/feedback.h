/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_FEEDBACK_H
#define SHOWSTOPPER_TESTS_FEEDBACK_H

/* Feedback modules that get readings from a test. */

#include "../../../modules/feedback/estimate.h"
#include "modules.h"

/* By default there are 4 CPUs, so a sample is due every 160 / 4 = 40 ms. */

/* Milliseconds of clock time or of CPU time summed over the CPUs. */
#define MS(x) ((ss_time)((x)*1e6))

static const struct ss_feedback_module *module_of(const struct rig *rig) {
    return (const void *)rig->head;
}

static inline bool wants(const struct rig *rig, uint32_t executor, double now, double since) {
    struct ss_moment moment = {.now = MS(now), .since = MS(since)};
    return module_of(rig)->wants_sample(&rig->selves[executor], &moment);
}

static inline void sample_counters(
    const struct rig *rig, uint32_t executor, double since, struct ss_counters counters) {
    struct ss_moment moment = {.now = counters.time, .since = MS(since)};
    module_of(rig)->sample(&rig->selves[executor], &moment, &counters);
}

/* Provides a reading of idle time only, on the same 4 CPUs, under control since 1000. */
static inline void sample_idle(const struct rig *rig, uint32_t executor, double now, double idle) {
    sample_counters(rig, executor, 1000,
        (struct ss_counters){.time = MS(now), .set = 7, .capacity = 4, .idle = MS(idle)});
}

/* Returns the estimate, or -1 if unknown. */
static inline double estimate_at(
    const struct rig *rig, uint32_t executor, double now, double since) {
    struct ss_moment moment = {.now = MS(now), .since = MS(since)};
    double load = 99;
    return module_of(rig)->estimate(&rig->selves[executor], &moment, &load) ? load : -1;
}

static inline double estimate_of(const struct rig *rig, uint32_t executor) {
    return estimate_at(rig, executor, 2000, 1000);
}

#endif
