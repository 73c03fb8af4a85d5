/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATS_PARABOLA_H
#define STATS_PARABOLA_H

/* A parabola through points. */

#include "statistics.h"

/*
 * The curve y = constant + linear x + square x^2 by least squares. All members but `count` are NaN
 * with fewer than four points, or fewer than three different x.
 */
struct stats_parabola {
    size_t count;
    double constant, linear, square;
    double square_p;  /* p-value that `square` is 0: two-sided, t with n - 3 */
    double r_squared; /* NaN if all y are equal */
};

SS_NONNULL()
SS_READS(1, 3)
SS_READS(2, 3)
struct stats_parabola stats_parabola_fit(const double *x, const double *y, size_t count);

struct stats_parabola stats_parabola_of_line(const struct ssreport_fit *line) SS_NONNULL();

double stats_parabola_at(const struct stats_parabola *curve, double x) SS_NONNULL();

/* Returns the greatest distance of a curve from its chord over this width. */
double stats_parabola_sag(const struct stats_parabola *curve, double width) SS_NONNULL();

#endif
