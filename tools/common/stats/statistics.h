/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_STATISTICS_H
#define SSREPORT_STATISTICS_H

/*
 * Statistics; no input, no output. All given values must be finite. Results that cannot be
 * said of them is NaN: a mean of nothing, a scatter of one, a line through two.
 * Figures of control quality are those of figures.h, as everywhere.
 */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

struct ssreport_mean {
    size_t count;
    double mean;      /* NaN: count is 0 */
    double deviation; /* of one value, n - 1; this and the interval are NaN: count is below 2 */
    double low, high; /* confidence interval of the mean, Student's t */
};

/* `confidence` as in 0.95. */
SS_READS(1, 2)
struct ssreport_mean ssreport_mean_of(const double *values, size_t count, double confidence);

/* The middle value, or the mean of both in the middle; the values are put in order. NaN: none. */
double ssreport_median_of(double *values, size_t count);

/* From where to where a value lies; infinite: there is no bound; NaN: nothing is known. */
struct ssreport_interval {
    double low, high;
};

/*
 * Confidence interval of the median, between two of the values: for any distribution. Its bounds
 * are infinite where there are too few values, which are six for 95 %. The values are put in order.
 */
SS_NONNULL()
struct ssreport_interval ssreport_median_interval(double *values, size_t count, double confidence);

/*
 * The value that a part `share` does not exceed, interpolated between two of them; the values
 * are put in order. NaN: none.
 */
SS_NONNULL()
double ssreport_quantile_of(double *values, size_t count, double share);

/* How sure a mean is: its standard error and the degrees of freedom of that; NaN: not known. */
struct ssreport_sureness {
    double error, freedom;
};

/* Welch and Satterthwaite's, for the difference of two independent means. */
struct ssreport_sureness ssreport_sureness_of_difference(
    struct ssreport_sureness one, struct ssreport_sureness other);

/* The confidence interval of a mean, Student's t; NaN: not known. */
struct ssreport_interval ssreport_mean_interval(
    double mean, struct ssreport_sureness sureness, double confidence);

/* The smallest and the largest value; NaN without values. */
struct ssreport_range {
    double least, most;
};

/*
 * y = intercept + slope x by least squares.
 *
 * All NaN: fewer than three pairs, as any two are on a line, which says nothing of what is between
 * them; or all x the same, so that no line is better than others.
 * All y the same: slope 0 and r_squared NaN, as there is nothing to explain.
 * All pairs on a line: errors are 0, the p-value of a coefficient is 0, and NaN where the
 * coefficient is 0, too.
 */
struct ssreport_fit {
    size_t count;
    double intercept, slope;
    double intercept_error, slope_error; /* standard errors */
    double intercept_p, slope_p;         /* that it is 0: two-sided, t with n - 2 */
    double r_squared;
    double covariance[3]; /* of the intercept; of both; of the slope */
};

/* Why there is no line; NULL: there is one. */
SS_NONNULL()
const char *ssreport_fit_missing(const struct ssreport_fit *fit);

SS_NONNULL()
SS_READS(2, 3)
struct ssreport_fit ssreport_fit_line(const double *x, const double *y, size_t count);

/* The line at `x` and the confidence band of the mean there; NaN where it has no errors. */
struct ssreport_band {
    double y, low, high;
};

SS_NONNULL()
struct ssreport_band ssreport_fit_at(const struct ssreport_fit *fit, double x, double confidence);

/*
 * Slope over intercept with Fieller's confidence interval, for Student's t with that freedom: all
 * ratios r for which slope - r intercept is not significantly different from 0. It has no bounds
 * where the intercept is not significantly different from 0.
 */
SS_NONNULL()
struct ssreport_interval ssreport_fit_ratio(
    const struct ssreport_fit *fit, double confidence, double freedom);

/* The variance of that ratio for small errors. */
SS_NONNULL()
double ssreport_fit_ratio_variance(const struct ssreport_fit *fit);

#endif
