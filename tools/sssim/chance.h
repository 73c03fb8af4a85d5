/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_CHANCE_H
#define SSSIM_CHANCE_H

#include <math.h>
#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood: Fast splittable generators, 2014); from 0 to less than 1. */
static inline double chance_draw(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word = *state;
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    word ^= word >> 31;
    return (double)(word >> 11) / 9007199254740992.0;
}

/* Not negative, with this mean, and without memory. */
static inline double chance_draw_exponential(uint64_t *state, double mean) {
    return -mean * log1p(-chance_draw(state));
}

#endif
