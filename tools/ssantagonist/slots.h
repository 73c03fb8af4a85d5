/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_SLOTS_H
#define SSANTAGONIST_SLOTS_H

/* The victim's figure in each slot of a run. `watch` writes it; the Python package reads it. */

#include <stddef.h>

#include <showstopper/contract.h>

/* In a slot shorter than this, in seconds, a victim may print one or no figure by chance. */
#define SLOTS_SHORT_SECONDS 1

struct slots {
    size_t count;
    double begin;  /* start of the first slot, seconds since 1970 */
    double length; /* seconds */
    double settle; /* fraction of each slot, at its beginning, that is skipped */
};

/* Returns when a slot begins, in seconds since 1970. */
SS_NONNULL() double slots_begin(const struct slots *slots, size_t slot);

/*
 * Returns the rate of lines in a slot with `figures` lines, computed from the times of the first
 * and last line; NaN if unknown. This avoids rounding to whole lines. Stalls at the edges of the
 * slot are added, because the time between the two lines excludes them.
 */
SS_NONNULL()
double slots_rate(
    const struct slots *slots, size_t slot, double figures, double first, double last);

#endif
