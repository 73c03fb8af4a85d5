/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/trace.h>

struct config {
    double load;
};

static const struct ss_option options[] = {
    SS_OPTION("load", LOAD, load, .required = 1, .help = "the target for the whole run"),
    SS_OPTION_END,
};

static void get_target(const struct ss_self *self, ss_time time, struct ss_target *target) {
    (void)time;
    const struct config *config = self->config;
    *target = (struct ss_target){.load = config->load};
}

SS_MODULE_EXPORT const struct ss_trace_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(trace, TRACE),
            .name = "constant",
            .summary = "one constant target",
            .options = options,
            .config_size = sizeof(struct config),
        },
    .target = get_target,
};
