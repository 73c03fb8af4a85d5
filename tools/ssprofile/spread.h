/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_SPREAD_H
#define SSPROFILE_SPREAD_H

/* The spread of repetitions, and the choice of benchmarks. Pure computation. */

#include <stdbool.h>
#include <stddef.h>

#include "results.h"

/* Returns whether a name matches a shell pattern of a comma-separated list; NULL matches all. */
SS_NONNULL(2) bool ssprofile_is_chosen(const char *patterns, const char *name);

/* Format of a reason; takes the spread in percent (double) and the repetitions (size_t). */
#define SSPROFILE_UNCERTAIN_FORMAT                                                                 \
    "its mean is uncertain by %.3g%% (95%% confidence, %zu repetitions)"

/*
 * Returns the spread of the repetitions: half the width of the 95 % confidence interval of their
 * mean, as a fraction of the mean. NaN with fewer than two repetitions.
 */
SS_NONNULL() double ssprofile_spread(const struct ssprofile_benchmark *benchmark);

#endif
