/* SPDX-License-Identifier: Apache-2.0 */
#include "power.h"

#include <math.h>

/* Returns the power at a throughput between 0 and the maximum. */
static double watts_at(const struct loadline *line, double throughput) {
    double before = 0, watts = line->idle_watts;
    for (size_t i = 0; i <= line->full; i++) {
        const struct loadline_level *level = &line->levels[i];
        double at = exp(level->log_mean);
        if (at >= throughput && at > before)
            return watts + (level->watts - watts) * (throughput - before) / (at - before);
        before = at;
        watts = level->watts;
    }
    return watts;
}

static bool is_known(const struct loadline *line) {
    for (size_t i = 0; i <= line->full; i++) {
        if (!(line->levels[i].watts > 0))
            return false;
    }
    return line->idle_watts > 0;
}

bool loadline_power_of(struct loadline_power *power, const struct loadline *line) {
    double operations = 0, watts = 0;
    if (!is_known(line))
        return false;
    for (int i = 0; i < LOADLINE_PARTS; i++) {
        struct loadline_part *part = &power->parts[i];
        part->part = (double)(LOADLINE_PARTS - 1 - i) / (LOADLINE_PARTS - 1);
        part->throughput = part->part * exp(line->levels[line->full].log_mean);
        part->watts = watts_at(line, part->throughput);
        part->per_joule = part->throughput / part->watts;
        operations += part->throughput;
        watts += part->watts;
    }
    power->per_joule = operations / watts;
    return true;
}
