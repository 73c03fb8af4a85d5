/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/control.h>

static double update(const struct ss_self *self, const struct ss_control_input *input) {
    (void)self;
    return input->target;
}

SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(control, CONTROL),
            .name = "null",
            .summary = "a duty equal to the target, without feedback (for tests)",
        },
    .open_loop = true,
    .update = update,
};
