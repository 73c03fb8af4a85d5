/* SPDX-License-Identifier: Apache-2.0 */
#include "parabola.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "tails.h"

/* Sums over the points. x is relative to its mean. */
struct sums {
    double mean, y_mean; /* means of x and y */
    double x2, x3;
    double shift, slope; /* the line through x^2: shift + slope x */
    double z2, zy, xy;   /* z is the residual of x^2 from that line */
};

static struct sums sum_up(const double *x, const double *y, size_t count) {
    struct sums sums = {.mean = gsl_stats_mean(x, 1, count), .y_mean = gsl_stats_mean(y, 1, count)};
    for (size_t i = 0; i < count; i++) {
        double at = x[i] - sums.mean;
        sums.x2 += at * at;
        sums.x3 += at * at * at;
        sums.xy += at * (y[i] - sums.y_mean);
    }
    sums.shift = sums.x2 / (double)count;
    sums.slope = sums.x3 / sums.x2;
    for (size_t i = 0; i < count; i++) {
        double at = x[i] - sums.mean, z = at * (at - sums.slope) - sums.shift;
        sums.z2 += z * z;
        sums.zy += z * (y[i] - sums.y_mean);
    }
    return sums;
}

/* Returns whether x has at least three different values: z is 0 otherwise, up to rounding. */
static bool has_curvature(const struct sums *sums) {
    return sums->x2 > 0 && sums->z2 > 1e-20 * sums->x2 * sums->x2;
}

double stats_parabola_at(const struct stats_parabola *curve, double x) {
    return curve->constant + x * (curve->linear + x * curve->square);
}

/* Fits y = mean + a x + b z, whose terms are orthogonal. */
struct stats_parabola stats_parabola_fit(const double *x, const double *y, size_t count) {
    struct stats_parabola curve = {.count = count,
        .constant = NAN,
        .linear = NAN,
        .square = NAN,
        .square_p = NAN,
        .r_squared = NAN};
    struct sums sums = count < 4 ? (struct sums){0} : sum_up(x, y, count);
    double rest = 0;
    if (count < 4 || !has_curvature(&sums))
        return curve;
    double a = sums.xy / sums.x2, b = sums.zy / sums.z2;
    double line = a - b * sums.slope;
    for (size_t i = 0; i < count; i++) {
        double at = x[i] - sums.mean;
        double apart = y[i] - sums.y_mean + b * sums.shift - at * (line + b * at);
        rest += apart * apart;
    }
    curve.square = b;
    curve.linear = line - 2 * b * sums.mean;
    curve.constant = sums.y_mean - b * sums.shift - sums.mean * (line - b * sums.mean);
    curve.r_squared = 1 - rest / gsl_stats_tss(y, 1, count);
    double freedom = (double)count - 3, error = sqrt(rest / freedom / sums.z2);
    curve.square_p = error > 0 ? stats_tail_t(b / error, freedom) : b == 0 ? NAN : 0;
    return curve;
}

struct stats_parabola stats_parabola_of_line(const struct ssreport_fit *line) {
    return (struct stats_parabola){.count = line->count,
        .constant = line->intercept,
        .linear = line->slope,
        .square = 0,
        .square_p = NAN,
        .r_squared = line->r_squared};
}

/* A parabola is farthest from its chord in the middle. */
double stats_parabola_sag(const struct stats_parabola *curve, double width) {
    return fabs(curve->square) * width * width / 4;
}
