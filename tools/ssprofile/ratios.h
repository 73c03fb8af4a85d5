/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_RATIOS_H
#define SSPROFILE_RATIOS_H

/* The variability profile of a target against a base, and its statistics. No input or output. */

#include <stdbool.h>
#include <stddef.h>

#include "results.h"

struct ssprofile_battery;

struct ssprofile_ratio {
    const char *name, *class; /* benchmark of the base */
    double ratio;       /* above 1: the target is faster; mean over all pairs of repetitions */
    double log;         /* mean over all pairs of the logarithm of the ratio */
    double variance[2]; /* variance of `log`, from the repetitions of base and target; NaN with one
                           repetition */
    size_t repetitions[2]; /* of base and target */
    double spread[2];      /* see ssprofile_spread() */
};

/* Why a benchmark is excluded. */
#define SSPROFILE_UNSTABLE      "unstable"
#define SSPROFILE_MISSING       "missing"
#define SSPROFILE_CONTRADICTORY "contradictory"
#define SSPROFILE_NO_NUMBER     "no number"

struct ssprofile_left_out {
    const char *name, *class, *why;
    double spread[2]; /* of base and target; NaN if unknown */
};

struct ssprofile_ratios {
    struct ssprofile_ratio *items;
    size_t count, capacity;
    struct ssprofile_left_out *left_out;
    size_t left_out_count, left_out_capacity;
};

struct ssprofile_matching {
    const char *only;  /* names to use, a list of shell patterns; NULL for all */
    const char *class; /* class to use; NULL for all */
    const struct ssprofile_battery *battery; /* benchmarks to use; NULL for all */
    double unstable;                         /* largest spread to use; INFINITY for no limit */
};

/* Returns whether a benchmark is used, by its name and class. */
SS_NONNULL()
bool ssprofile_is_chosen(
    const struct ssprofile_matching *matching, const char *name, const char *class);

/* Format of a reason: the spread in percent (double) and the number of repetitions (size_t). */
#define SSPROFILE_UNCERTAIN "its mean is uncertain by %.3g%% (95%% confidence, %zu repetitions)"

#define SSPROFILE_SPREAD_MAX 0.02 /* default limit for a stable benchmark */

/*
 * Returns the spread of the repetitions: half the width of the 95 % confidence interval of their
 * mean, as a part of the mean. NaN with fewer than two repetitions.
 */
SS_NONNULL() double ssprofile_spread(const struct ssprofile_benchmark *benchmark);

/*
 * Computes the ratios of all benchmarks that both sides have, in the order of the base. `warnings`
 * names those left out. Names point into the profiles. Returns -1 if out of memory, or if no
 * benchmark is left; free the ratios in any case.
 */
SS_NONNULL()
int ssprofile_ratios_make(struct ssprofile_ratios *ratios, const struct ssprofile_profile *sides[2],
    const struct ssprofile_matching *matching, struct ssprofile_warnings *warnings,
    struct ss_error *error);

void ssprofile_ratios_free(struct ssprofile_ratios *ratios);

/* ---- statistics ---- */

struct ssprofile_figures {
    size_t count;
    double least, most;
    double length; /* of the range */
    double median, mean, geometric;
    double most_to_least; /* not changed by a common factor, nor is the next one */
    double variation;     /* coefficient of variation; NaN for one ratio */
};

SS_READS(1, 2) struct ssprofile_figures ssprofile_figures_of(const double *ratios, size_t count);
SS_NONNULL()
struct ssprofile_figures ssprofile_ratios_figures(const struct ssprofile_ratios *ratios);

/* One target, for sentences and pictures. */
struct ssprofile_series {
    const char *machine, *limits;
    const struct ssprofile_ratios *ratios;
    struct ssprofile_figures figures;
    double coverage; /* coverage of the range; NaN if not shown */
};

/*
 * Returns by how much chance may change the smallest and the largest ratio: half the width of the
 * confidence interval from both sides, averaged over the two ratios. 0 with too few repetitions.
 */
SS_NONNULL() double ssprofile_scatter_of(const struct ssprofile_ratios *ratios);

/*
 * Returns whether ratios may differ by chance alone, if the largest is too large and the smallest
 * too small.
 */
bool ssprofile_is_chance(double most_to_least, double scatter);

/*
 * Returns the probability that the ratio of one more benchmark of the same kind is between the
 * smallest and the largest of `count` ratios.
 */
double ssprofile_coverage_of(size_t count);

#define SSPROFILE_BIN 0.1

/* The bin (n - 1) * `bin` < ratio <= n * `bin` has number n; a ratio that differs from a bound only
   by rounding counts as equal to it. */
size_t ssprofile_bin_of(double ratio, double bin);

/*
 * Why the range of the ratios of a throttled target is shorter than that of the plain one:
 * reduction = factor * relative. A throttle that slows everything by one factor has a relative
 * of 1.
 */
struct ssprofile_reduction {
    double reduction; /* length of the plain range over that of the throttled one */
    double factor;    /* geometric mean of the plain ratios over that of the throttled ones */
    double relative;  /* by how much the range's length, relative to the geometric mean, shrank */
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

/* ---- prediction ---- */

/* An interval for the ratio of one more benchmark of the same kind, by order statistics. */
struct ssprofile_interval {
    size_t left_out; /* number of ratios outside, at either end */
    double low, high;
    double coverage; /* the probability that it contains one more exchangeable ratio */
};

/*
 * Returns the interval. Ratios must be in ascending order, and `left_out` at most (count - 1) / 2.
 */
SS_READS(1, 2)
struct ssprofile_interval ssprofile_interval_of(
    const double *sorted, size_t count, size_t left_out);

/* Returns the narrowest interval that covers at least this, or the widest one if none does. */
SS_READS(1, 2)
struct ssprofile_interval ssprofile_interval_covering(
    const double *sorted, size_t count, double coverage);

#endif
