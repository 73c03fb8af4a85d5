/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATS_STATISTICS_H
#define STATS_STATISTICS_H

/*
 * Statistics of values in memory. All values must be finite. A result that the values do not
 * determine is NaN: the mean of no value, the deviation of one, a line through two points.
 * figures.h computes the figures of control quality.
 */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

struct ssreport_mean {
    size_t count;
    double mean;      /* NaN if count is 0 */
    double deviation; /* standard deviation (n - 1); NaN, like the interval, if count is below 2 */
    double low, high; /* confidence interval of the mean, Student's t */
};

/* `confidence` is the level of the interval, such as 0.95. */
SS_READS(1, 2)
struct ssreport_mean ssreport_mean_of(const double *values, size_t count, double confidence);

/*
 * Returns the median: the middle value, or the mean of the two in the middle; NaN if count is 0.
 * Sorts `values` in place.
 */
double ssreport_median_of(double *values, size_t count);

/* Bounds of a value: infinite if unbounded, NaN if unknown. */
struct ssreport_interval {
    double low, high;
};

/*
 * Returns the confidence interval of the median, for any distribution. Its bounds are two of the
 * values, or infinite if there are too few values (95 % needs six). Sorts `values` in place if the
 * bounds are finite.
 */
SS_NONNULL()
struct ssreport_interval ssreport_median_interval(double *values, size_t count, double confidence);

/*
 * Returns the quantile at `share`, from 0 to 1, interpolated between two values; NaN if count is 0.
 * Sorts `values` in place.
 */
SS_NONNULL()
double ssreport_quantile_of(double *values, size_t count, double share);

/*
 * Returns the first of `count` items whose number is at least `least`; `count` if all are smaller.
 * Items have `size` bytes, the number at `offset`, and are in the order of their numbers.
 */
size_t ssreport_find_from(
    const void *items, size_t count, size_t size, size_t offset, double least);

/* The uncertainty of a mean: its standard error, and the degrees of freedom; NaN if unknown. */
struct ssreport_sureness {
    double error, freedom;
};

/*
 * Returns the uncertainty of the mean of a series whose neighbors may be correlated, such as the
 * load of successive samples: from the means of up to ten batches, and their correlation. NaN
 * weights are not allowed; without `weights`, all are 1.
 */
SS_NONNULL(1)
struct ssreport_sureness ssreport_series_sureness(
    const double *values, const double *weights, size_t count, double mean);

/*
 * Returns the uncertainty of the difference of two independent means, after Welch and
 * Satterthwaite.
 */
struct ssreport_sureness ssreport_sureness_of_difference(
    struct ssreport_sureness one, struct ssreport_sureness other);

/* Returns the confidence interval of a mean by Student's t; NaN if its uncertainty is unknown. */
struct ssreport_interval ssreport_mean_interval(
    double mean, struct ssreport_sureness sureness, double confidence);

/* NaN without values. */
struct ssreport_range {
    double least, most;
};

/*
 * The line y = intercept + slope x by least squares.
 *
 * All members but `count` are NaN with fewer than three points, because a line through two leaves
 * no residual, and if all x are equal, because no line then fits better than another. If all y are
 * equal, the slope is 0 and r_squared is NaN: there is no variance to explain. If all points are on
 * a line, errors are 0, and the p-value of a coefficient is 0, or NaN if the coefficient is 0, too.
 */
struct ssreport_fit {
    size_t count;
    double intercept, slope;
    double intercept_error, slope_error; /* standard errors */
    double intercept_p, slope_p; /* p-values of the coefficient being 0: two-sided, t with n - 2 */
    double r_squared;
    /* of intercept with itself, of intercept with slope, of slope with itself */
    double covariance[3];
};

/* Returns why there is no line, as a static string; NULL if there is a line. */
SS_NONNULL()
const char *ssreport_fit_missing(const struct ssreport_fit *fit);

SS_NONNULL()
SS_READS(1, 3)
SS_READS(2, 3)
struct ssreport_fit ssreport_fit_line(const double *x, const double *y, size_t count);

/* A line or a curve at one x, and the confidence interval of the mean at that x. */
struct ssreport_band {
    double y, low, high;
};

/* Returns the line at `x`, even outside of the points; bounds are NaN if the line has no errors. */
SS_NONNULL()
struct ssreport_band ssreport_fit_at(const struct ssreport_fit *fit, double x, double confidence);

/*
 * Returns Fieller's confidence interval of slope / intercept, for Student's t with `freedom`
 * degrees of freedom: all ratios r for which slope - r intercept is not significantly different
 * from 0. Its bounds are infinite if the intercept is not significantly different from 0.
 */
SS_NONNULL()
struct ssreport_interval ssreport_fit_ratio(
    const struct ssreport_fit *fit, double confidence, double freedom);

/* Returns the variance of slope / intercept for small errors; NaN if the ratio is not finite. */
SS_NONNULL()
double ssreport_fit_ratio_variance(const struct ssreport_fit *fit);

#endif
