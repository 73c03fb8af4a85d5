/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RANDOM_H
#define SHOWSTOPPER_RANDOM_H

#include <math.h>
#include <stdint.h>

/*
 * Returns a well-mixed hash of `word`: splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom
 * number generators, 2014).
 */
static inline uint64_t ss_random_hash(uint64_t word) {
    word += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

/* Returns a number in [0, 1). */
static inline double ss_random_unit(uint64_t word) {
    return (double)(word >> 11) / 0x1p53;
}

/* Returns the next number of a sequence, in [0, 1). */
static inline double ss_random_next(uint64_t *state) {
    double value = ss_random_unit(ss_random_hash(*state));
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return value;
}

/*
 * Returns a number in [0, 1), a hash of seed and index. There is no state, so all callers get the
 * same number for an index. The seed is hashed first; otherwise the sequences of two seeds could be
 * shifted copies of each other.
 */
static inline double ss_random(uint64_t seed, uint64_t index) {
    uint64_t word = ss_random_hash(ss_random_hash(seed) + index * UINT64_C(0x9e3779b97f4a7c15));
    return ss_random_unit(word);
}

/*
 * Returns an exponentially distributed number with mean 1 for a number in [0, 1):
 * ss_random_exponential(ss_random(3, 5)). Requires -lm.
 */
static inline double ss_random_exponential(double unit) {
    return -log1p(-unit);
}

#endif
