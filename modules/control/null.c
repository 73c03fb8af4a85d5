/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/control.h>

static double update(const struct ss_self *self, const struct ss_control_input *input) {
    (void)self;
    return input->target;
}

SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {
    .head =
        {
            .version = SS_MODULE_VERSION,
            .size = sizeof(struct ss_control_module),
            .kind = SS_KIND_CONTROL,
            .name = "null",
            .summary = "a duty equal to the target, without any feedback (for tests)",
        },
    .open_loop = true,
    .update = update,
};
