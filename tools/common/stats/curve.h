/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATS_CURVE_H
#define STATS_CURVE_H

/* A smooth curve through points: local linear regression. */

#include <showstopper/contract.h>

#include "statistics.h"

/*
 * A curve. Its value at x is that of a line fitted by weighted least squares: a point at distance d
 * below the bandwidth h has the weight (1 - |d/h|^3)^3. An infinite h gives one straight line
 * through all points.
 */
struct ssreport_curve {
    size_t count;       /* number of points; 0 if there is no curve */
    double *x, *y;      /* sorted by x; one allocation, at `x` */
    double bandwidth;   /* in units of x */
    double least, most; /* smallest and largest x; the curve is defined between them */
    double variance;    /* variance of a point around the curve */
    double freedom;     /* n - 2 tr(L) + tr(L'L), for the hat matrix L */
};

/* Limits of the number of points: below the minimum or above the maximum, no curve is fitted. */
#define SSREPORT_CURVE_MIN 5
#define SSREPORT_CURVE_MAX 2000

/*
 * Fits a curve through copies of the points, in any order. Tries bandwidths from the smallest that
 * leaves no gap to infinity, and chooses the largest whose mean squared error of predicting each
 * point from the others is at most 5 % above the smallest such error. Sets `count` to 0 if there is
 * no curve, for example if all x are equal. Returns -1 if memory is exhausted; call
 * ssreport_curve_free() in either case.
 */
SS_READS(2, 4)
SS_READS(3, 4)
SS_MUST_USE SS_NONNULL(1) int ssreport_curve_fit(
    struct ssreport_curve *curve, const double *x, const double *y, size_t count);

/*
 * Like ssreport_curve_fit(), with this bandwidth, and through at least three points. An infinite
 * bandwidth gives a straight line.
 */
SS_READS(2, 4)
SS_READS(3, 4)
SS_MUST_USE SS_NONNULL(1) int ssreport_curve_fit_with(
    struct ssreport_curve *curve, const double *x, const double *y, size_t count, double bandwidth);

SS_NONNULL()
void ssreport_curve_free(struct ssreport_curve *curve);

/*
 * Sets `weights[i]`, for each of the curve's points, so that the sum of weights[i] y[i] is the
 * curve at `x`. Outside of [least, most] the weights may be NaN.
 */
SS_NONNULL()
void ssreport_curve_weigh(const struct ssreport_curve *curve, double x, double *weights);

/*
 * Returns the sum of weights[i] y[i] over the points of a curve, at least one, and the confidence
 * interval of its mean by Student's t.
 */
SS_NONNULL()
struct ssreport_band ssreport_curve_sum(
    const struct ssreport_curve *curve, const double *weights, double confidence);

/*
 * Returns the curve at `x` and the confidence interval of the mean there; NaN outside of [least,
 * most], without a curve, or if memory is exhausted.
 */
SS_NONNULL()
struct ssreport_band ssreport_curve_at(
    const struct ssreport_curve *curve, double x, double confidence);

#endif
