/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_RATIOS_H
#define SSPROFILE_RATIOS_H

/*
 * The variability profile of a target against a base, and its statistics. Pure computation, without
 * input and output.
 */

#include <stdbool.h>
#include <stddef.h>

#include "results.h"

struct ssprofile_battery;

struct ssprofile_ratio {
    const char *name, *class; /* name and class of the benchmark on the base */
    double ratio;       /* ratio, as a mean over all pairs of repetitions; above 1, the target is
                           faster */
    double log;         /* mean over all pairs of the logarithm of the ratio */
    double variance[2]; /* variances of `log` due to the repetitions of base and of target; NaN with
                           one repetition */
    size_t repetitions[2]; /* number of repetitions on base and target */
    double spread[2];      /* see ssprofile_spread() */
};

/* Reasons for excluding a benchmark. */
#define SSPROFILE_UNSTABLE      "unstable"
#define SSPROFILE_MISSING       "missing"
#define SSPROFILE_CONTRADICTORY "contradictory"
#define SSPROFILE_NO_NUMBER     "no number"

struct ssprofile_left_out {
    const char *name, *class, *why;
    double spread[2]; /* spread on base and target; NaN if unknown */
};

struct ssprofile_ratios {
    struct ssprofile_ratio *items;
    size_t count, capacity;
    struct ssprofile_left_out *left_out;
    size_t left_out_count, left_out_capacity;
};

struct ssprofile_matching {
    const char *only;  /* names to include, a list of shell patterns; NULL: all */
    const char *class; /* class to include; NULL: all */
    const struct ssprofile_battery *battery; /* benchmarks to include; NULL: all */
    double unstable;                         /* largest spread to include; INFINITY: no limit */
};

SS_NONNULL()
bool ssprofile_is_chosen(
    const struct ssprofile_matching *matching, const char *name, const char *class);

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
 * Computes the ratios of all benchmarks that both sides have, in the order of the base. Adds a
 * warning for each benchmark that is left out. Names point into the profiles. Returns -1 if memory
 * is exhausted, or if no benchmark is left; free the ratios even on failure.
 */
SS_NONNULL()
int ssprofile_ratios_make(struct ssprofile_ratios *ratios, const struct ssprofile_profile *sides[2],
    const struct ssprofile_matching *matching, struct ssprofile_warnings *warnings,
    struct ss_error *error);

void ssprofile_ratios_free(struct ssprofile_ratios *ratios);

struct ssprofile_figures {
    size_t count;
    double least, most;
    double length; /* length of the range */
    double median, mean, geometric;
    double most_to_least; /* largest ratio over the smallest; a common factor changes neither this
                             nor `variation` */
    double variation;     /* coefficient of variation; NaN for one ratio */
};

SS_READS(1, 2) struct ssprofile_figures ssprofile_figures_of(const double *ratios, size_t count);
SS_NONNULL()
struct ssprofile_figures ssprofile_ratios_figures(const struct ssprofile_ratios *ratios);

/* The ratios of one target, for sentences and pictures. */
struct ssprofile_series {
    const char *machine, *limits;
    const struct ssprofile_ratios *ratios;
    struct ssprofile_figures figures;
    double coverage; /* coverage of the range; NaN if not shown */
};

/*
 * Returns the change of the smallest and the largest ratio that chance can explain: half the width
 * of the confidence interval due to both sides, averaged over the two ratios. Returns 0 with too
 * few repetitions.
 */
SS_NONNULL() double ssprofile_scatter_of(const struct ssprofile_ratios *ratios);

/*
 * Returns whether chance alone can explain that the largest ratio is `most_to_least` times the
 * smallest.
 */
bool ssprofile_is_chance(double most_to_least, double scatter);

/*
 * Returns the probability that the ratio of another benchmark of the same kind is between the
 * smallest and the largest of `count` ratios.
 */
double ssprofile_coverage_of(size_t count);

#define SSPROFILE_BIN 0.1

/*
 * Returns the number of the bin of a ratio: bin n has (n - 1) * `bin` < ratio <= n * `bin`. A ratio
 * that differs from a bound only by rounding counts as equal to the bound.
 */
size_t ssprofile_bin_of(double ratio, double bin);

/*
 * The effect of a throttle on the range of ratios: reduction = factor * relative. A throttle that
 * slows every benchmark by the same factor has a relative of 1.
 */
struct ssprofile_reduction {
    double reduction; /* length of the plain range over length of the throttled range */
    double factor;    /* geometric mean of plain ratios over geometric mean of throttled ones */
    double relative;  /* factor by which the range's length, relative to the geometric mean,
                         shrank */
    double share;     /* part of the logarithm of the reduction due to the factor; NaN if none */
};

SS_NONNULL()
struct ssprofile_reduction ssprofile_reduction_of(
    const struct ssprofile_figures *plain, const struct ssprofile_figures *throttled);

/* The mean of the logarithms of ratios. Benchmarks are fixed: only repetitions vary by chance. */
struct ssprofile_log_mean {
    double mean;
    double half; /* half the width of its confidence interval; NaN with too few repetitions */
};

SS_NONNULL()
struct ssprofile_log_mean ssprofile_ratios_log_mean(
    const struct ssprofile_ratios *ratios, double confidence);

/* An interval for the ratio of another benchmark of the same kind, by order statistics. */
struct ssprofile_interval {
    size_t left_out; /* number of ratios outside of the interval, at each end */
    double low, high;
    double coverage; /* the probability that the interval contains another exchangeable ratio */
};

/* Ratios must be in ascending order, and `left_out` at most (count - 1) / 2. */
SS_READS(1, 2)
struct ssprofile_interval ssprofile_interval_of(
    const double *sorted, size_t count, size_t left_out);

/*
 * Returns the narrowest interval with at least this coverage, or the widest one if no interval has
 * it.
 */
SS_READS(1, 2)
struct ssprofile_interval ssprofile_interval_covering(
    const double *sorted, size_t count, double coverage);

#endif
