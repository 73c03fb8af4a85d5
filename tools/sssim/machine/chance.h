/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_CHANCE_H
#define SSSIM_CHANCE_H

#include <math.h>
#include <stdint.h>

#include <showstopper/random.h>

static inline double chance_draw_exponential(uint64_t *state, double mean) {
    return mean * ss_random_exponential(ss_random_next(state));
}

/*
 * Returns a normal random number with mean 0 and this standard deviation (Box-Muller transform).
 * Keep the order of the factors: it determines rounding, and thereby the results of each seed.
 */
static inline double chance_draw_normal_scaled(uint64_t *state, double deviation) {
    double radius = sqrt(chance_draw_exponential(state, 2));
    return deviation * radius * cos(2 * M_PI * ss_random_next(state));
}

/* Returns a standard normal random number. */
static inline double chance_draw_normal(uint64_t *state) {
    return chance_draw_normal_scaled(state, 1);
}

/* Returns a lognormal random number with mean 1 and this standard deviation. */
static inline double chance_draw_lognormal(uint64_t *state, double deviation) {
    double variance = log1p(deviation * deviation);
    return exp(sqrt(variance) * chance_draw_normal(state) - variance / 2);
}

#endif
