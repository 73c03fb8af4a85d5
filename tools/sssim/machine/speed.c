/* SPDX-License-Identifier: Apache-2.0 */
#include "speed.h"

#include "chance.h"

/* Makes the random numbers of the speed independent of those of instances. */
#define SPEED_SALT UINT64_C(0x7370656564)

static void set_factor(struct speed *speed) {
    double variance = log1p(speed->options.deviation * speed->options.deviation);
    speed->factor = exp(sqrt(variance) * speed->normal - variance / 2);
}

void speed_open(struct speed *speed, const struct speed_options *options, ss_time start) {
    *speed = (struct speed){.options = *options, .factor = 1, .until = SS_TIME_NEVER};
    if (!(options->deviation > 0))
        return;
    speed->random = ss_random_hash(options->seed + SPEED_SALT);
    speed->normal = chance_draw_normal(&speed->random);
    speed->until = start + options->window - options->uptime % options->window;
    for (ss_time i = 0; i < options->uptime / options->window; i++) {
        speed_next(speed);
        speed->until -= options->window;
    }
    set_factor(speed);
}

void speed_next(struct speed *speed) {
    double kept = speed->options.correlation;
    speed->normal =
        kept * speed->normal + sqrt(1 - kept * kept) * chance_draw_normal(&speed->random);
    speed->until += speed->options.window;
    set_factor(speed);
}
