/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/stationarity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Steps at each eighteenth of the time, a line and an exponential. */
#define STEPS  17
#define SHAPES (STEPS + 2)

/* The series lasts this many time constants of a warm-up. */
#define WARM_UP_CONSTANTS 12

/* The numbers of bends, exponentials and powers that find_detail() tries besides steps. */
#define BENDS        18
#define EXPONENTIALS 7
#define POWERS       2

/*
 * Removing two details from W values of noise with a correlation r lowers r by (6 + 9 r) / W. This
 * was found in series of 120 and of 240 values, 1,500 for each r from 0 to 0.9.
 */
#define CORRECTION_BASE  6
#define CORRECTION_SLOPE 9

/* With fewer events per window, the counts would be too coarse. */
#define EVENTS_PER_WINDOW 5

/* With fewer independent values than this, the correlation is not known well enough. */
#define INDEPENDENT_MIN 25

#define CORRELATION_MAX 0.95

/*
 * Changes below this certainty may be chance: in at most ten of 1,000 steady series with a
 * correlation up to 0.5, one of the 19 shapes exceeds it.
 */
#define CERTAINTY_MIN 5

/* A smaller change does not matter, however certain it is. */
#define SIZE_MIN 0.01

struct fit {
    double slope;
    double error; /* standard error of the slope */
    double correlation;
};

/* Returns the height of a shape at value `i`. It rises by 1 from before the change to after it. */
static double shape_at(size_t shape, size_t i, size_t count) {
    double time = ((double)i + 0.5) / (double)count;
    if (shape < STEPS)
        return time * (STEPS + 1) >= (double)(shape + 1);
    return shape == STEPS ? time : -exp(-WARM_UP_CONSTANTS * time);
}

static enum ss_shape kind_of(size_t shape) {
    if (shape < STEPS)
        return SS_SHAPE_STEP;
    return shape == STEPS ? SS_SHAPE_DRIFT : SS_SHAPE_WARM_UP;
}

static double compute_mean(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Estimates the correlation of successive residuals without the bias of a short series. */
static double compute_correlation(const double *residuals, size_t count) {
    double products = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        squares += residuals[i] * residuals[i];
        products += i > 0 ? residuals[i] * residuals[i - 1] : 0;
    }
    double biased = squares > 0 ? products / squares : 0;
    double length = (double)count;
    return fmin(fmax((length * biased + 2) / (length - 4), 0), CORRELATION_MAX);
}

/*
 * Returns the height of a detail at value `i`: a step at any value, a bend at an eighteenth of the
 * time, an exponential, or a power.
 */
static double detail_at(size_t detail, size_t i, size_t count) {
    static const double constants[EXPONENTIALS] = {2, 3, 5, 8, 12, 20, 32};
    double time = ((double)i + 0.5) / (double)count;
    if (detail < count - 1)
        return i > detail;
    detail -= count - 1;
    if (detail < BENDS)
        return fmax(time - (double)detail / BENDS, 0);
    detail -= BENDS;
    if (detail < EXPONENTIALS)
        return exp(-constants[detail] * time);
    return pow(time, (double)(detail - EXPONENTIALS + 2));
}

static double multiply(const double *left, const double *right, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += left[i] * right[i];
    return sum;
}

/* Removes the component of `values` that is proportional to `shape`. */
static void remove_shape(double *values, const double *shape, size_t count) {
    double part = multiply(values, shape, count) / multiply(shape, shape, count);
    for (size_t i = 0; i < count; i++)
        values[i] -= part * shape[i];
}

/*
 * Finds the detail that explains the largest part of the values. `best` gets its heights minus
 * their mean.
 */
static void find_detail(const double *values, size_t count, double best[]) {
    double heights[SS_STATIONARITY_MAX], most = -1;
    for (size_t detail = 0; detail < count - 1 + BENDS + EXPONENTIALS + POWERS; detail++) {
        for (size_t i = 0; i < count; i++)
            heights[i] = detail_at(detail, i, count);
        double middle = compute_mean(heights, count);
        for (size_t i = 0; i < count; i++)
            heights[i] -= middle;
        double product = multiply(values, heights, count);
        double explained = product * product / multiply(heights, heights, count);
        if (explained > most) {
            most = explained;
            memcpy(best, heights, count * sizeof *best);
        }
    }
}

/*
 * Estimates the correlation of the noise. The residuals of a shape are correlated, too, if the
 * series changed in another way: a step between two eighteenths, a drift that is not linear, a
 * temporary change. So two details are removed first.
 */
static double compute_noise_correlation(const double *values, double mean, size_t count) {
    double rest[SS_STATIONARITY_MAX] = {0}, first[SS_STATIONARITY_MAX], second[SS_STATIONARITY_MAX];

    for (size_t i = 0; i < count; i++)
        rest[i] = values[i] - mean;
    find_detail(rest, count, first);
    remove_shape(rest, first, count);
    find_detail(rest, count, second);
    remove_shape(second, first, count);
    if (multiply(second, second, count) > 0)
        remove_shape(rest, second, count);
    double correlation = compute_correlation(rest, count);
    double lost = (CORRECTION_BASE + CORRECTION_SLOPE * correlation) / (double)count;
    return fmin(correlation + lost, CORRELATION_MAX);
}

static struct fit fit_shape(
    const double *values, double mean, size_t count, size_t shape, double limit) {
    double heights[SS_STATIONARITY_MAX] = {0}, residuals[SS_STATIONARITY_MAX] = {0};
    double spread = 0, product = 0, rest = 0;

    for (size_t i = 0; i < count; i++)
        heights[i] = shape_at(shape, i, count);
    double middle = compute_mean(heights, count);
    for (size_t i = 0; i < count; i++) {
        spread += (heights[i] - middle) * (heights[i] - middle);
        product += (heights[i] - middle) * (values[i] - mean);
    }

    struct fit fit = {.slope = product / spread};
    for (size_t i = 0; i < count; i++) {
        residuals[i] = values[i] - mean - fit.slope * (heights[i] - middle);
        rest += residuals[i] * residuals[i];
    }

    fit.correlation = fmin(compute_correlation(residuals, count), limit);
    fit.error =
        sqrt(rest / ((double)count - 2) * (1 + fit.correlation) / (1 - fit.correlation) / spread);
    return fit;
}

struct ss_change ss_stationarity_find(const double *values, size_t count) {
    struct ss_change change = {.certainty = -1};
    double correlation = 1;

    if (count <= SHAPES || count > SS_STATIONARITY_MAX)
        return change;

    double mean = compute_mean(values, count);
    if (!isfinite(mean) || mean <= 0)
        return change;

    double noise = compute_noise_correlation(values, mean, count);
    for (size_t shape = 0; shape < SHAPES; shape++) {
        struct fit fit = fit_shape(values, mean, count, shape, noise);
        double certainty = fit.error > 0 ? fabs(fit.slope) / fit.error : INFINITY;
        if (!(certainty > change.certainty))
            continue;
        correlation = fit.correlation;
        change = (struct ss_change){
            .certainty = certainty,
            .size = fit.slope / mean,
            .shape = kind_of(shape),
            .at = shape < STEPS ? (double)(shape + 1) / (STEPS + 1) : 0,
        };
    }

    change.checked = (double)count * (1 - correlation) / (1 + correlation) >= INDEPENDENT_MIN;
    return change;
}

size_t ss_stationarity_windows(double events) {
    const size_t half = SS_STATIONARITY_MAX / 2;
    if (events >= EVENTS_PER_WINDOW * SS_STATIONARITY_MAX)
        return SS_STATIONARITY_MAX;
    return events >= EVENTS_PER_WINDOW * (double)half ? half : 0;
}

double ss_stationarity_change(const struct ss_change *change) {
    if (!change->checked)
        return NAN;
    bool counts = change->certainty > CERTAINTY_MIN && fabs(change->size) >= SIZE_MIN;
    return counts ? change->size : 0;
}

/*
 * Converts a size relative to the mean to percent of the level before the change. That level is
 * the mean minus the part `after` of the change. A level is not below 0, but a fitted line may be.
 */
static double percent_of_before(double size, double after) {
    double before = fmax(1 - size * after, 0.01);
    return fmax(100 * size / before, -100);
}

void ss_stationarity_print(char text[SS_CHANGE_TEXT_SIZE], const struct ss_change *change) {
    char instance[32] = "";
    if (change->instance_plus_1 > 0)
        snprintf(instance, sizeof instance, ", of instance %u", change->instance_plus_1 - 1);
    if (change->shape == SS_SHAPE_STEP)
        snprintf(text, SS_CHANGE_TEXT_SIZE, "a step of %+.1f %% after %.0f %% of the time%s",
            percent_of_before(change->size, 1 - change->at), 100 * change->at, instance);
    else if (change->shape == SS_SHAPE_DRIFT)
        snprintf(
            text, SS_CHANGE_TEXT_SIZE, "a drift of %+.1f %%", percent_of_before(change->size, 0.5));
    else
        snprintf(text, SS_CHANGE_TEXT_SIZE, "%+.1f %% while it warmed up",
            percent_of_before(change->size, 11 / 12.0));
}
