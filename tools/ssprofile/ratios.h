/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_RATIOS_H
#define SSPROFILE_RATIOS_H

/* The spread of repetitions, and the ratios of a machine to a base. Pure computation. */

#include <stdbool.h>
#include <stddef.h>

#include "results.h"

/* Returns whether a name fits one of these shell patterns, separated by commas; NULL: all do. */
SS_NONNULL(2) bool ssprofile_is_chosen(const char *patterns, const char *name);

/*
 * Format of a reason, with the spread in percent (double) and the number of repetitions (size_t).
 */
#define SSPROFILE_UNCERTAIN "its mean is uncertain by %.3g%% (95%% confidence, %zu repetitions)"

#define SSPROFILE_SPREAD_MAX 0.02 /* default limit for a stable benchmark */

/*
 * Returns the spread of the repetitions: half the width of the 95 % confidence interval of their
 * mean, as a part of the mean. NaN with fewer than two repetitions.
 */
SS_NONNULL() double ssprofile_spread(const struct ssprofile_benchmark *benchmark);

/*
 * How much faster this machine is than a base, over the benchmarks that both have. A ratio is a
 * mean over all pairs of repetitions. Benchmarks are fixed: only repetitions vary by chance.
 */
struct ssprofile_match {
    size_t count;
    double log_mean;  /* mean logarithm of the ratios */
    double half;      /* half its 95 % confidence interval; NaN with too few repetitions */
    double time_mean; /* mean ratio of times */
    double least, most;
    double scatter; /* change of `least` and `most` that chance can explain: half the width of the
                       confidence interval due to both sides, averaged over the two */
};

SS_MUST_USE SS_NONNULL() struct ssprofile_match
    ssprofile_match_of(const struct ssprofile_profile *base, const struct ssprofile_profile *here);

#endif
