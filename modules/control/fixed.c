/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <showstopper/control.h>

#include "base/units.h"

/* A text, because any number could have been meant: only NULL says that none was given. */
struct config {
    const char *duty;
};

static const struct ss_option options[] = {
    {.name = "duty",
        .type = SS_OPTION_TEXT,
        .offset = offsetof(struct config, duty),
        .help = "the duty, as a load is written (6/10, 0.6, 60%); without it, the target"},
    SS_OPTION_END,
};

static int prepare_duty(struct ss_self *self, struct ss_error *error) {
    const struct config *config = self->config;
    if (!config->duty)
        return 0;
    double *duty = malloc(sizeof *duty);
    if (!duty)
        return ss_error_set(error, SS_ERROR_FAILED, "out of memory");
    if (ss_units_load(config->duty, duty, error) < 0) {
        free(duty);
        return ss_error_wrap(error, "duty");
    }
    self->prepared = duty;
    return 0;
}

static void release_duty(struct ss_self *self) {
    free(self->prepared);
    self->prepared = NULL;
}

static double update(const struct ss_self *self, const struct ss_control_input *input) {
    const double *duty = self->prepared;
    return duty ? *duty : input->target;
}

SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {
    .head =
        {
            .version = SS_MODULE_VERSION,
            .size = sizeof(struct ss_control_module),
            .kind = SS_KIND_CONTROL,
            .name = "fixed",
            .summary = "the target itself, or a given duty, without any feedback",
            .options = options,
            .config_size = sizeof(struct config),
            .prepare = prepare_duty,
            .release = release_duty,
        },
    .open_loop = true,
    .update = update,
};
