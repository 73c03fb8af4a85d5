/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_CURVE_H
#define SSREPORT_CURVE_H

/* A smooth curve through points: local linear regression. */

#include <showstopper/contract.h>

#include "statistics.h"

/*
 * At each x a line through the points by weighted least squares, with weights (1 - |d/h|^3)^3 for a
 * distance d below the bandwidth h; the curve is that line's value at x. An infinite h is the
 * straight line through all.
 */
struct ssreport_curve {
    size_t count;       /* points; 0: there is no curve */
    double *x, *y;      /* `x` owns both */
    double bandwidth;   /* in units of x */
    double least, most; /* x: the curve is known from here to there */
    double variance;    /* of a point around the curve */
    double freedom;     /* n - 2 tr(L) + tr(L'L), for the hat matrix L */
};

/* Fewer points, or more, make no curve. */
#define SSREPORT_CURVE_MIN 5
#define SSREPORT_CURVE_MAX 2000

/*
 * Tries bandwidths from the smallest that leaves no gap to infinity. The mean squared error of
 * predicting each point from the others is smallest for one of them; the largest bandwidth is taken
 * with an error of at most 5 % above that. Points at a single x make no curve. -1: no
 * memory.
 */
SS_READS(2, 4)
SS_READS(3, 4)
int ssreport_curve_fit(
    struct ssreport_curve *curve, const double *x, const double *y, size_t count);

SS_NONNULL()
void ssreport_curve_free(struct ssreport_curve *curve);

/* The curve at `x`, between its ends, is the sum of all y with these weights. */
SS_NONNULL()
void ssreport_curve_weigh(const struct ssreport_curve *curve, double x, double *weights);

/*
 * Any sum of all y, with the confidence interval of its mean, for Student's t; `confidence` as in
 * 0.95.
 */
SS_NONNULL()
struct ssreport_band ssreport_curve_sum(
    const struct ssreport_curve *curve, const double *weights, double confidence);

/* The curve at `x` and the confidence band of the mean there. NaN: outside, or no memory. */
SS_NONNULL()
struct ssreport_band ssreport_curve_at(
    const struct ssreport_curve *curve, double x, double confidence);

#endif
