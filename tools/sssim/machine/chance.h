/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_CHANCE_H
#define SSSIM_CHANCE_H

#include <math.h>
#include <stdint.h>

#include <showstopper/random.h>

/* Not negative, with this mean, and without memory. */
static inline double chance_draw_exponential(uint64_t *state, double mean) {
    return mean * ss_random_exponential(ss_random_next(state));
}

/* Lognormal, with mean 1 and this standard deviation. Its logarithm is a normal number by Box and
 * Muller. */
static inline double chance_draw_lognormal(uint64_t *state, double deviation) {
    double variance = log1p(deviation * deviation);
    double radius = sqrt(chance_draw_exponential(state, 2));
    double normal = radius * cos(2 * M_PI * ss_random_next(state));
    return exp(sqrt(variance) * normal - variance / 2);
}

#endif
