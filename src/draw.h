/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_DRAW_H
#define SHOWSTOPPER_DRAW_H

#include <stdint.h>

/* The last step of splitmix64 (Steele, Lea, Flood: Fast splittable generators, 2014). */
static inline uint64_t ss_draw_mix(uint64_t word) {
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

/*
 * A number from 0 up to, not including, 1. It is a hash of its index, not the next state of a
 * generator: nothing is kept, so everybody sees the same whichever they ask for. The seed is mixed
 * first, or the sequences of two seeds could be the same one shifted.
 */
static inline double ss_draw(uint64_t seed, uint64_t index) {
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word = ss_draw_mix(ss_draw_mix(seed + golden) + (index + 1) * golden);
    return (double)(word >> 11) / 9007199254740992.0; /* 53 bits */
}

#endif
