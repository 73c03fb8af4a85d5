/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/dithering.h>

static void next(const struct ss_self *self, const struct ss_dithering_input *input,
    struct ss_planned_state *plan) {
    (void)self;
    (void)input;
    *plan = (struct ss_planned_state){.state = SS_STATE_RUNNING, .length = 107 * SS_MILLISECOND};
}

SS_MODULE_EXPORT const struct ss_dithering_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(dithering, DITHERING),
            .name = "null",
            .summary = "always runs, at any duty (for tests)",
        },
    .next = next,
};
