/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/trace.h>

static void get_target(const struct ss_self *self, ss_time time, struct ss_target *target) {
    (void)self;
    (void)time;
    *target = (struct ss_target){.free = true, .until = SS_TIME_NEVER};
}

SS_MODULE_EXPORT const struct ss_trace_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(trace, TRACE),
            .name = "null",
            .summary = "no control: the workload runs at full speed (for tests)",
        },
    .target = get_target,
};
