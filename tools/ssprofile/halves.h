/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_HALVES_H
#define SSPROFILE_HALVES_H

/* Splits one profile into two, whose difference is due to chance alone. */

#include "results.h"

/*
 * Splits a profile into its odd and its even repetitions. If the labels of the repetitions are not
 * all numbers, repetitions are counted in the order of the file. The limits become "LIMITS-odd" and
 * "LIMITS-even". Returns -1 if memory is exhausted, or if no benchmark has both an odd and an even
 * repetition; free the halves even on failure.
 */
SS_NONNULL()
int ssprofile_halves_make(struct ssprofile_results *halves, const struct ssprofile_profile *whole,
    struct ss_error *error);

/*
 * Returns the smallest number of repetitions in a half, over the benchmarks that both halves have.
 */
SS_NONNULL() size_t ssprofile_halves_least(const struct ssprofile_results *halves);

#endif
