/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_SLOTS_H
#define SSANTAGONIST_SLOTS_H

/* The victim's figure in each slot of a run. `watch` writes it; the Python package reads it. */

#include <stddef.h>

#include <showstopper/contract.h>

/* In a shorter slot, a victim may give no figure, or one, by chance. Seconds. */
#define SLOTS_SILENCE 1

struct slots {
    size_t count;
    double begin;  /* start of the first slot, seconds since 1970 */
    double length; /* seconds */
    double settle; /* fraction of each slot, at its beginning, that is skipped */
};

/* Returns when a slot begins, in seconds since 1970. */
SS_NONNULL() double slots_begin(const struct slots *slots, size_t slot);

/*
 * Returns the rate of lines in a slot, which has `figures` of them, from the times of the first and
 * of the last; NaN if unknown. The time between these gives the rate without rounding to whole
 * lines, but excludes a stall at either edge.
 */
SS_NONNULL()
double slots_rate(
    const struct slots *slots, size_t slot, double figures, double first, double last);

#endif
