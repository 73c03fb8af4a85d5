/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_HALVES_H
#define SSPROFILE_HALVES_H

/* One profile as two: what differs between its halves is chance. */

#include "results.h"

/*
 * Makes two profiles of one: of its odd repetitions and of its even ones. Repetitions whose labels
 * are not all numbers are counted in the order of the file. The limits become "LIMITS-odd" and
 * "LIMITS-even". -1: memory is short, or no benchmark has two repetitions; free the halves in any
 * case.
 */
SS_NONNULL()
int ssprofile_halves_make(struct ssprofile_results *halves, const struct ssprofile_profile *whole,
    struct ss_error *error);

/* The fewest repetitions that a benchmark has in a half, of those that both halves have. */
SS_NONNULL() size_t ssprofile_halves_least(const struct ssprofile_results *halves);

#endif
