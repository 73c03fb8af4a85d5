/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include <showstopper/space.h>

struct config {
    ss_time rotate; /* time from one rotation of the order to the next; 0: never */
};

static const struct ss_option options[] = {
    SS_OPTION("rotate", TIME, rotate, .initial = "0", .sensible = "100ms",
        .help = "the time after which the next instance becomes the first; 0 keeps the order"),
    SS_OPTION_END,
};

/* Returns the instance's position in the order of work; 0 is first. */
static uint32_t find_position(const struct config *config, const struct ss_place *place) {
    if (config->rotate == 0)
        return place->rank;
    uint32_t first = (uint32_t)(place->time / config->rotate % place->count);
    return place->rank >= first ? place->rank - first : place->rank + (place->count - first);
}

static double local_duty(
    const struct ss_self *self, const struct ss_place *place, double global_duty) {
    double running = (double)place->count * global_duty, whole = round(running);
    /* An instance that should always run must get exactly 1: a needless stop would interrupt it. */
    if (fabs(running - whole) <= 1e-13 * fmax(whole, 1))
        running = whole;
    return fmin(fmax(running - (double)find_position(self->config, place), 0), 1);
}

SS_MODULE_EXPORT const struct ss_space_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(space, SPACE),
            .name = "uneven",
            .summary = "runs as few instances as possible, only one with stops",
            .options = options,
            .config_size = sizeof(struct config),
        },
    .local_duty = local_duty,
};
