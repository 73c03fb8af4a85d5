/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include <showstopper/control.h>

struct config {
    double duty; /* NaN: use the target */
};

static const struct ss_option options[] = {
    SS_OPTION("duty", LOAD, duty,
        .help = "the duty, written as a load (6/10, 0.6, 60%); default: the target"),
    SS_OPTION_END,
};

static double update(const struct ss_self *self, const struct ss_control_input *input) {
    const struct config *config = self->config;
    return isnan(config->duty) ? input->target : config->duty;
}

SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(control, CONTROL),
            .name = "fixed",
            .summary = "a given duty, or the target as the duty, without feedback",
            .options = options,
            .config_size = sizeof(struct config),
        },
    .open_loop = true,
    .update = update,
};
