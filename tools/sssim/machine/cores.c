/* SPDX-License-Identifier: Apache-2.0 */
#include "cores.h"

#include <math.h>

/* Returns the mean number of cores with two busy threads. */
static double count_doubled(const struct cores *cores, double cpus, double busy) {
    if (cores->gain <= 0)
        return 0;
    if (cores->overlaps_at_random)
        return cpus > 1 ? fmax(busy * (busy - 1), 0) / (2 * (cpus - 1)) : 0;
    return fmax(busy - cpus / 2, 0);
}

static double frequency_of(const struct cores *cores, double busy) {
    for (size_t i = 0; i < cores->step_count; i++) {
        if (busy <= cores->steps[i].cores)
            return cores->steps[i].speed;
    }
    return 1;
}

/* Returns the work of all busy CPUs per unit of time. `busy` is a whole number. */
static double work_of(const struct cores *cores, double cpus, double busy) {
    double doubled = count_doubled(cores, cpus, busy);
    double used = busy - doubled, below = floor(used), part = used - below;
    double frequency =
        (1 - part) * frequency_of(cores, below) + part * frequency_of(cores, ceil(used));
    return (used + (cores->gain - 1) * doubled) * frequency;
}

double cores_speed(const struct cores *cores, double cpus, double busy) {
    if (busy <= 0 || (cores->gain <= 0 && cores->step_count == 0))
        return 1;
    double below = floor(busy), part = busy - below;
    double work =
        (1 - part) * work_of(cores, cpus, below) + part * work_of(cores, cpus, ceil(busy));
    return work / busy;
}
