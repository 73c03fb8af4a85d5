/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/space.h>

static double local_duty(
    const struct ss_self *self, const struct ss_place *place, double global_duty) {
    (void)self;
    (void)place;
    return global_duty;
}

SS_MODULE_EXPORT const struct ss_space_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(space, SPACE),
            .name = "null",
            .summary = "gives every instance the global duty, like even (for tests)",
        },
    .local_duty = local_duty,
};
