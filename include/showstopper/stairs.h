/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_STAIRS_H
#define SHOWSTOPPER_STAIRS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <showstopper/error.h>

#define SS_STAIRS_LEVELS_MAX 1000000

/* Levels of load, held one after another. */
struct ss_stairs {
    double from;
    double to;
    double rise;     /* difference from one level to the next; negative if the stairs go down */
    uint64_t levels; /* at least 1 */
    bool symmetric;  /* from the highest level to the lowest and back, the lowest held twice */
};

/*
 * Sets all members except `symmetric`. From 95% to 5% there are 18 steps of 5%, even though
 * (0.95 - 0.05) / 0.05 is less than 18 in floating point.
 */
static inline int ss_stairs_set(
    struct ss_stairs *stairs, double from, double to, double step, struct ss_error *error) {
    if (!(step > 0))
        return ss_error_fail(error, "STEP must be more than 0");
    double rises = floor(fabs(to - from) / step + 1e-6);
    if (rises >= SS_STAIRS_LEVELS_MAX)
        return ss_error_fail(
            error, "too many levels (at most %d): use a larger STEP", SS_STAIRS_LEVELS_MAX);

    stairs->from = from;
    stairs->to = to;
    stairs->rise = from <= to ? step : -step;
    stairs->levels = (uint64_t)rises + 1;
    return 0;
}

static inline uint64_t ss_stairs_count(const struct ss_stairs *stairs) {
    return stairs->symmetric ? 2 * stairs->levels : stairs->levels;
}

/*
 * Returns the load of a step, from 0 to ss_stairs_count() - 1. Rounds it to 12 decimals, because
 * sums of steps have rounding errors: 0.9 - 3 * 0.2 is not 0.3.
 */
static inline double ss_stairs_load(const struct ss_stairs *stairs, uint64_t step) {
    uint64_t level = step;
    if (stairs->symmetric) {
        uint64_t below_top = step < stairs->levels ? step : 2 * stairs->levels - 1 - step;
        level = stairs->rise > 0 ? stairs->levels - 1 - below_top : below_top;
    }
    return round((stairs->from + (double)level * stairs->rise) * 1e12) / 1e12;
}

#endif
