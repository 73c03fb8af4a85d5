/* SPDX-License-Identifier: Apache-2.0 */
#include "curve.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number of finite bandwidths that are tried, in a geometric sequence. */
#define BANDWIDTHS 24

/* The largest finite bandwidth, as a multiple of the range of x: weights are then nearly equal. */
#define WIDEST 4.0

/*
 * Loads closer than this part of the range of x count as one: a level that is held twice has two
 * slightly different loads.
 */
#define ONE_LOAD 0.01

/* Minimum number of different loads in a window: a line through two loads would always be exact. */
#define LOADS_MIN 3

/* The smoothest curve is chosen whose error is at most this factor above the smallest error. */
#define HARDLY 1.05

/*
 * A bandwidth is excluded if a point has more weight than this in its own value, because the point
 * then predicts itself.
 */
#define OWN_WEIGHT_MAX 0.95

/*
 * Minimum degrees of freedom of a curve: 1, as of a line through three points, less rounding
 * errors.
 */
#define FREEDOM_MIN 0.99

/* Squared errors smaller than this, relative to squared values, are rounding errors. */
#define ROUNDING 1e-24

static double weight_of(double distance, double bandwidth) {
    double part = fabs(distance) / bandwidth;
    double rest = 1 - part * part * part;
    return part < 1 ? rest * rest * rest : 0;
}

void ssreport_curve_weigh(const struct ssreport_curve *curve, double x, double *weights) {
    double sum = 0, first = 0, second = 0;
    for (size_t i = 0; i < curve->count; i++) {
        double distance = curve->x[i] - x;
        double weight = weight_of(distance, curve->bandwidth);
        weights[i] = weight;
        sum += weight;
        first += weight * distance;
        second += weight * distance * distance;
    }
    double determinant = sum * second - first * first;
    for (size_t i = 0; i < curve->count; i++)
        weights[i] *= (second - (curve->x[i] - x) * first) / determinant;
}

static size_t count_loads(const struct ssreport_curve *curve, double x, double bandwidth) {
    double apart = ONE_LOAD * (curve->most - curve->least), last = -INFINITY;
    size_t loads = 0;
    for (size_t i = 0; i < curve->count; i++) {
        if (fabs(curve->x[i] - x) >= bandwidth || curve->x[i] - last < apart)
            continue;
        last = curve->x[i];
        loads++;
    }
    return loads;
}

/*
 * Returns the smallest bandwidth at which no window is empty, even in the middle of a gap. Points
 * must be sorted by x.
 */
static double narrowest(const struct ssreport_curve *curve) {
    double range = curve->most - curve->least, gap = 0;
    for (size_t i = 1; i < curve->count; i++)
        gap = fmax(gap, curve->x[i] - curve->x[i - 1]);
    double bandwidth = fmax(1.5 * gap, 2 * ONE_LOAD * range);
    for (size_t i = 0; i < curve->count; i++) {
        while (bandwidth < WIDEST * range && count_loads(curve, curve->x[i], bandwidth) < LOADS_MIN)
            bandwidth *= 1.1;
    }
    return bandwidth;
}

/*
 * Sets the variance and degrees of freedom for the curve's bandwidth. Returns the mean squared
 * error of predicting each point from the others; infinite if the bandwidth cannot be used.
 */
static double judge(struct ssreport_curve *curve, double *weights) {
    double trace = 0, squares = 0, residuals = 0, left_out = 0;
    bool predicts_itself = false;
    for (size_t i = 0; i < curve->count; i++) {
        double value = 0;
        ssreport_curve_weigh(curve, curve->x[i], weights);
        for (size_t j = 0; j < curve->count; j++) {
            value += weights[j] * curve->y[j];
            squares += weights[j] * weights[j];
        }
        double residual = curve->y[i] - value;
        predicts_itself |= !(weights[i] < OWN_WEIGHT_MAX);
        trace += weights[i];
        residuals += residual * residual;
        left_out += residual * residual / ((1 - weights[i]) * (1 - weights[i]));
    }
    curve->freedom = (double)curve->count - 2 * trace + squares;
    curve->variance = residuals / curve->freedom;
    bool usable = !predicts_itself && curve->freedom >= 1 && isfinite(left_out);
    return usable ? left_out / (double)curve->count : INFINITY;
}

static void choose_bandwidth(struct ssreport_curve *curve, double *weights) {
    double range = curve->most - curve->least, least = narrowest(curve);
    double bandwidths[BANDWIDTHS + 1], errors[BANDWIDTHS + 1], smallest = INFINITY, squares = 0;
    for (size_t i = 0; i < curve->count; i++)
        squares += curve->y[i] * curve->y[i] / (double)curve->count;
    for (int i = 0; i <= BANDWIDTHS; i++) {
        double step = (double)i / (BANDWIDTHS - 1);
        bandwidths[i] = i < BANDWIDTHS ? least * pow(WIDEST * range / least, step) : INFINITY;
        curve->bandwidth = bandwidths[i];
        errors[i] = fmax(judge(curve, weights), ROUNDING * squares);
        smallest = fmin(smallest, errors[i]);
    }
    int chosen = BANDWIDTHS;
    while (chosen > 0 && !(errors[chosen] <= HARDLY * smallest))
        chosen--;
    curve->bandwidth = bandwidths[chosen];
    if (!isfinite(judge(curve, weights)))
        curve->count = 0;
}

/* Copies the points, sorted by x. Sets `count` to 0 if all are at a single x. */
static int copy_points(
    struct ssreport_curve *curve, const double *x, const double *y, size_t count) {
    curve->x = calloc(2 * count, sizeof *curve->x);
    if (!curve->x)
        return -1;
    curve->y = curve->x + count;
    memcpy(curve->x, x, count * sizeof *x);
    memcpy(curve->y, y, count * sizeof *y);
    gsl_sort2(curve->x, 1, curve->y, 1, count);
    curve->least = curve->x[0];
    curve->most = curve->x[count - 1];
    curve->count = curve->most > curve->least ? count : 0;
    return 0;
}

int ssreport_curve_fit(
    struct ssreport_curve *curve, const double *x, const double *y, size_t count) {
    *curve = (struct ssreport_curve){0};
    if (count < SSREPORT_CURVE_MIN || count > SSREPORT_CURVE_MAX)
        return 0;
    double *weights = calloc(count, sizeof *weights);
    int result = weights ? copy_points(curve, x, y, count) : -1;
    if (result == 0 && curve->count > 0)
        choose_bandwidth(curve, weights);
    free(weights);
    return result;
}

int ssreport_curve_fit_with(struct ssreport_curve *curve, const double *x, const double *y,
    size_t count, double bandwidth) {
    *curve = (struct ssreport_curve){0};
    if (count < LOADS_MIN || count > SSREPORT_CURVE_MAX)
        return 0;
    double *weights = calloc(count, sizeof *weights);
    int result = weights ? copy_points(curve, x, y, count) : -1;
    if (result == 0) {
        curve->bandwidth = bandwidth;
        judge(curve, weights);
        if (!(curve->freedom > FREEDOM_MIN))
            curve->count = 0;
    }
    free(weights);
    return result;
}

void ssreport_curve_free(struct ssreport_curve *curve) {
    free(curve->x);
    *curve = (struct ssreport_curve){0};
}

struct ssreport_band ssreport_curve_sum(
    const struct ssreport_curve *curve, const double *weights, double confidence) {
    struct ssreport_band band = {0};
    double squares = 0;
    for (size_t i = 0; i < curve->count; i++) {
        band.y += weights[i] * curve->y[i];
        squares += weights[i] * weights[i];
    }
    double half =
        gsl_cdf_tdist_Pinv((1 + confidence) / 2, curve->freedom) * sqrt(curve->variance * squares);
    band.low = band.y - half;
    band.high = band.y + half;
    return band;
}

struct ssreport_band ssreport_curve_at(
    const struct ssreport_curve *curve, double x, double confidence) {
    struct ssreport_band band = {NAN, NAN, NAN};
    double *weights = calloc(curve->count + 1, sizeof *weights);
    if (weights && curve->count > 0 && x >= curve->least && x <= curve->most) {
        ssreport_curve_weigh(curve, x, weights);
        band = ssreport_curve_sum(curve, weights, confidence);
    }
    free(weights);
    return band;
}
