/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATS_GROUP_TESTS_H
#define STATS_GROUP_TESTS_H

/*
 * Tests of groups of independent values. Results equal those of R's shapiro.test(),
 * bartlett.test(), oneway.test(), t.test() and kruskal.test().
 */

#include <stddef.h>

#include <showstopper/contract.h>

#include "statistics.h"

/*
 * The summary of a group of values. The same number may be subtracted from the means of all groups,
 * to keep more digits.
 */
struct stats_sample {
    size_t count;
    double mean;
    double variance; /* n - 1; NaN if count is below 2 */
};

/* Values of a group, in any order. */
struct stats_values {
    const double *values;
    size_t count;
};

/* All numbers are NaN if `missing` is not NULL. */
struct stats_test {
    double statistic;
    double freedom, freedom_within; /* degrees of freedom; freedom_within only for F */
    double p;
    const char *missing; /* why there is no result; NULL if there is one */
};

struct stats_difference {
    struct stats_test test;            /* Welch's t, with `freedom` after Satterthwaite */
    double difference;                 /* the first mean minus the second */
    struct ssreport_interval interval; /* confidence interval of the difference */
};

SS_READS(1, 2) struct stats_sample stats_sample_of(const double *values, size_t count);

/*
 * Tests whether values are normally distributed: W of Shapiro and Wilk with the p-value of Royston
 * (AS R94), for 3 to 5000 values, in ascending order. Sets `missing` if memory is exhausted.
 */
SS_NONNULL()
SS_READS(1, 2)
struct stats_test stats_test_normality(const double *sorted, size_t count);

/* Tests whether the variances of all groups are equal, after Bartlett. */
SS_NONNULL()
SS_READS(1, 2)
struct stats_test stats_test_variances(const struct stats_sample *groups, size_t count);

/* Tests whether the means of all groups are equal, whatever their variances, after Welch. */
SS_NONNULL()
SS_READS(1, 2)
struct stats_test stats_test_means(const struct stats_sample *groups, size_t count);

/* Compares two means, whatever their variances, after Welch. `confidence` is such as 0.95. */
SS_NONNULL()
struct stats_difference stats_test_difference(
    const struct stats_sample *one, const struct stats_sample *other, double confidence);

/* Tests whether all groups have the same distribution, by ranks, after Kruskal and Wallis. */
SS_NONNULL()
SS_READS(1, 2)
struct stats_test stats_test_ranks(const struct stats_values *groups, size_t count);

/*
 * Adjusts the p-values of several tests after Holm, which bounds the probability of any false
 * rejection. Keeps NaN, which does not count as a test. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL()
    SS_READS(1, 3) int stats_adjust_holm(const double *p, double *adjusted, size_t count);

#endif
