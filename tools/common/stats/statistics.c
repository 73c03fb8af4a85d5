/* SPDX-License-Identifier: Apache-2.0 */
#include "statistics.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "tails.h"

/* A line through fewer points has no degrees of freedom. */
#define POINTS_MIN 3

/* Returns half the width of a two-sided interval, in standard errors. */
static double bound(double confidence, double freedom) {
    return gsl_cdf_tdist_Pinv((1 + confidence) / 2, freedom);
}

struct ssreport_mean ssreport_mean_of(const double *values, size_t count, double confidence) {
    struct ssreport_mean mean = {
        .count = count, .mean = NAN, .deviation = NAN, .low = NAN, .high = NAN};
    if (count == 0)
        return mean;
    mean.mean = gsl_stats_mean(values, 1, count);
    if (count == 1)
        return mean;
    mean.deviation = gsl_stats_sd_m(values, 1, count, mean.mean);
    double half = bound(confidence, (double)count - 1) * mean.deviation / sqrt((double)count);
    mean.low = mean.mean - half;
    mean.high = mean.mean + half;
    return mean;
}

struct ssreport_sureness ssreport_sureness_of_difference(
    struct ssreport_sureness one, struct ssreport_sureness other) {
    double squares[] = {one.error * one.error, other.error * other.error};
    double sum = squares[0] + squares[1];
    double parts = squares[0] * squares[0] / one.freedom + squares[1] * squares[1] / other.freedom;
    return (struct ssreport_sureness){
        .error = sqrt(sum), .freedom = parts > 0 ? sum * sum / parts : one.freedom + other.freedom};
}

struct ssreport_interval ssreport_mean_interval(
    double mean, struct ssreport_sureness sureness, double confidence) {
    if (isnan(sureness.error) || !(sureness.freedom > 0))
        return (struct ssreport_interval){NAN, NAN};
    double half = bound(confidence, sureness.freedom) * sureness.error;
    return (struct ssreport_interval){mean - half, mean + half};
}

/* More batches would be too short to be independent, fewer would leave too little freedom. */
#define BATCHES 10

#define CORRELATION_MAX 0.9

struct ssreport_sureness ssreport_series_sureness(
    const double *values, const double *weights, size_t count, double mean) {
    double offs[BATCHES] = {0}, all = 0, squares = 0, products = 0;
    size_t batches = count < BATCHES ? count : BATCHES;
    if (batches < 2)
        return (struct ssreport_sureness){NAN, NAN};
    for (size_t i = 0; i < count; i++) {
        double weight = weights ? weights[i] : 1;
        offs[i * batches / count] += weight * (values[i] - mean);
        all += weight;
    }
    for (size_t i = 0; i < batches; i++) {
        squares += offs[i] * offs[i];
        products += i > 0 ? offs[i] * offs[i - 1] : 0;
    }
    double number = (double)batches;
    /* In a short series, the correlation seems smaller by about 1 / number than it is. */
    double correlation = squares > 0 ? products / squares + 1 / number : 0;
    correlation = fmin(fmax(correlation, 0), CORRELATION_MAX);
    double error = sqrt(squares * number / (number - 1)) / all;
    return (struct ssreport_sureness){
        .error = error * sqrt((1 + correlation) / (1 - correlation)), .freedom = number - 1};
}

double ssreport_median_of(double *values, size_t count) {
    if (count == 0)
        return NAN;
    gsl_sort(values, 1, count);
    return gsl_stats_median_from_sorted_data(values, 1, count);
}

/* The number of values below the median has a binomial distribution. */
struct ssreport_interval ssreport_median_interval(double *values, size_t count, double confidence) {
    size_t from_end = 0;
    while (2 * (from_end + 1) <= count &&
           1 - 2 * gsl_cdf_binomial_P((unsigned)from_end, 0.5, (unsigned)count) >= confidence)
        from_end++;
    if (from_end == 0)
        return (struct ssreport_interval){-INFINITY, INFINITY};
    gsl_sort(values, 1, count);
    return (struct ssreport_interval){values[from_end - 1], values[count - from_end]};
}

size_t ssreport_find_from(
    const void *items, size_t count, size_t size, size_t offset, double least) {
    size_t from = 0, to = count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        double number;
        memcpy(&number, (const char *)items + middle * size + offset, sizeof number);
        if (!(number >= least))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

double ssreport_quantile_of(double *values, size_t count, double share) {
    if (count == 0)
        return NAN;
    gsl_sort(values, 1, count);
    return gsl_stats_quantile_from_sorted_data(values, 1, count, share);
}

static double p_value(double coefficient, double error, size_t freedom) {
    if (error == 0)
        return coefficient == 0 ? NAN : 0;
    return stats_tail_t(coefficient / error, (double)freedom);
}

static void judge(struct ssreport_fit *fit) {
    fit->intercept_error = sqrt(fit->covariance[0]);
    fit->slope_error = sqrt(fit->covariance[2]);
    fit->intercept_p = p_value(fit->intercept, fit->intercept_error, fit->count - 2);
    fit->slope_p = p_value(fit->slope, fit->slope_error, fit->count - 2);
}

struct ssreport_fit ssreport_fit_line(const double *x, const double *y, size_t count) {
    struct ssreport_fit fit = {.count = count,
        .intercept = NAN,
        .slope = NAN,
        .intercept_error = NAN,
        .slope_error = NAN,
        .intercept_p = NAN,
        .slope_p = NAN,
        .r_squared = NAN,
        .covariance = {NAN, NAN, NAN}};
    if (count < POINTS_MIN)
        return fit;
    double squares;
    /* If all x are equal, GSL divides 0 by 0; if all y are equal, the next line does. */
    gsl_fit_linear(x, 1, y, 1, count, &fit.intercept, &fit.slope, &fit.covariance[0],
        &fit.covariance[1], &fit.covariance[2], &squares);
    fit.r_squared = 1 - squares / gsl_stats_tss(y, 1, count);
    judge(&fit);
    return fit;
}

const char *ssreport_fit_missing(const struct ssreport_fit *fit) {
    static const char *const few[POINTS_MIN] = {"no fit: there are no points",
        "no fit: there is only one point", "no fit: there are only two points"};
    if (isfinite(fit->slope))
        return NULL;
    return fit->count < POINTS_MIN ? few[fit->count] : "no fit: all points have the same load";
}

struct ssreport_band ssreport_fit_at(const struct ssreport_fit *fit, double x, double confidence) {
    struct ssreport_band band = {.y = fit->intercept + fit->slope * x, .low = NAN, .high = NAN};
    if (isnan(fit->slope_error))
        return band;
    const double *c = fit->covariance;
    double error = sqrt(fmax(c[0] + x * (2 * c[1] + x * c[2]), 0));
    double half = bound(confidence, (double)fit->count - 2) * error;
    band.low = band.y - half;
    band.high = band.y + half;
    return band;
}

double ssreport_fit_ratio_variance(const struct ssreport_fit *fit) {
    const double *c = fit->covariance;
    double ratio = fit->slope / fit->intercept;
    if (!isfinite(ratio))
        return NAN;
    return fmax(c[2] + ratio * (ratio * c[0] - 2 * c[1]), 0) / (fit->intercept * fit->intercept);
}

/* Solves (slope - r intercept)^2 = t^2 Var(slope - r intercept) for r. */
struct ssreport_interval ssreport_fit_ratio(
    const struct ssreport_fit *fit, double confidence, double freedom) {
    const double *c = fit->covariance;
    double ratio = fit->slope / fit->intercept;
    if (!isfinite(ratio))
        return (struct ssreport_interval){NAN, NAN};
    /* The ratio is exact if all points are on the line. */
    if (c[0] == 0 && c[2] == 0)
        return (struct ssreport_interval){ratio, ratio};
    double t = bound(confidence, freedom);
    double square = fit->intercept * fit->intercept - t * t * c[0];
    double middle = fit->intercept * fit->slope - t * t * c[1];
    double last = fit->slope * fit->slope - t * t * c[2];
    if (!(square > 0))
        return (struct ssreport_interval){-INFINITY, INFINITY};
    double half = sqrt(fmax(middle * middle - square * last, 0)) / square;
    return (struct ssreport_interval){middle / square - half, middle / square + half};
}
