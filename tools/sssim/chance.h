/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_CHANCE_H
#define SSSIM_CHANCE_H

#include <math.h>
#include <stdint.h>

#include <showstopper/random.h>

/* Not negative, with this mean, and without memory. */
static inline double chance_draw_exponential(uint64_t *state, double mean) {
    return -mean * log1p(-ss_random_next(state));
}

#endif
