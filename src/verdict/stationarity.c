/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/stationarity.h"

#include <math.h>
#include <stdio.h>

/* Steps at each eighteenth of the time, a line and an exponential. */
#define STEPS  17
#define SHAPES (STEPS + 2)

/* Time constants of warm-up in all of the time. */
#define WARM_UP_CONSTANTS 12

/* A window with fewer events shows their grain rather than their rate. */
#define EVENTS_PER_WINDOW 5

/* With fewer independent values than this, the correlation is not known well enough. */
#define INDEPENDENT_MIN 25

#define CORRELATION_MAX 0.95

/*
 * Changes below this certainty are chance: of 19 shapes in 1,000 steady series with a correlation
 * up to 0.5, at most ten exceed it.
 */
#define CERTAINTY_MIN 5

/* A smaller change is of no consequence, however certain. */
#define SIZE_MIN 0.01

struct fit {
    double slope;
    double error; /* standard error of the slope */
    double correlation;
};

/* The value of a shape at value `i`; from 0 before the change to 1 after it, or the other way. */
static double shape_at(size_t shape, size_t i, size_t count) {
    double time = ((double)i + 0.5) / (double)count;
    if (shape < STEPS)
        return time * (STEPS + 1) >= (double)(shape + 1);
    return shape == STEPS ? time : -exp(-WARM_UP_CONSTANTS * time);
}

static double find_mean(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Estimates the correlation of successive residuals without the bias of a short series. */
static double find_correlation(const double *residuals, size_t count) {
    double products = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        squares += residuals[i] * residuals[i];
        products += i > 0 ? residuals[i] * residuals[i - 1] : 0;
    }
    double biased = squares > 0 ? products / squares : 0;
    double length = (double)count;
    return fmin(fmax((length * biased + 2) / (length - 4), 0), CORRELATION_MAX);
}

static struct fit fit_shape(const double *values, double mean, size_t count, size_t shape) {
    double heights[SS_STATIONARITY_MAX], residuals[SS_STATIONARITY_MAX];
    double spread = 0, product = 0, rest = 0;
    for (size_t i = 0; i < count; i++)
        heights[i] = shape_at(shape, i, count);
    double middle = find_mean(heights, count);
    for (size_t i = 0; i < count; i++) {
        spread += (heights[i] - middle) * (heights[i] - middle);
        product += (heights[i] - middle) * (values[i] - mean);
    }
    struct fit fit = {.slope = product / spread};
    for (size_t i = 0; i < count; i++) {
        residuals[i] = values[i] - mean - fit.slope * (heights[i] - middle);
        rest += residuals[i] * residuals[i];
    }
    fit.correlation = find_correlation(residuals, count);
    fit.error =
        sqrt(rest / ((double)count - 2) * (1 + fit.correlation) / (1 - fit.correlation) / spread);
    return fit;
}

static double find_certainty(const struct fit *fit) {
    return fit->error > 0 ? fabs(fit->slope) / fit->error : INFINITY;
}

struct ss_change ss_stationarity_find(const double *values, size_t count) {
    struct ss_change change = {.certainty = -1};
    double correlation = 1;
    if (count <= SHAPES || count > SS_STATIONARITY_MAX)
        return change;
    double mean = find_mean(values, count);
    if (!isfinite(mean) || mean <= 0)
        return change;
    for (size_t shape = 0; shape < SHAPES; shape++) {
        struct fit fit = fit_shape(values, mean, count, shape);
        double certainty = find_certainty(&fit);
        if (!(certainty > change.certainty))
            continue;
        correlation = fit.correlation;
        change = (struct ss_change){
            .certainty = certainty,
            .size = fit.slope / mean,
            .shape = shape < STEPS    ? SS_SHAPE_STEP
                     : shape == STEPS ? SS_SHAPE_DRIFT
                                      : SS_SHAPE_WARM_UP,
            .at = shape < STEPS ? (double)(shape + 1) / (STEPS + 1) : 0,
        };
    }
    change.checked = (double)count * (1 - correlation) / (1 + correlation) >= INDEPENDENT_MIN;
    return change;
}

size_t ss_stationarity_windows(double events) {
    if (events >= EVENTS_PER_WINDOW * SS_STATIONARITY_MAX)
        return SS_STATIONARITY_MAX;
    return events >= EVENTS_PER_WINDOW * SS_STATIONARITY_MAX / 2 ? SS_STATIONARITY_MAX / 2 : 0;
}

double ss_stationarity_change(const struct ss_change *change) {
    if (!change->checked)
        return NAN;
    bool counts = change->certainty > CERTAINTY_MIN && fabs(change->size) >= SIZE_MIN;
    return counts ? change->size : 0;
}

void ss_stationarity_print(char text[SS_CHANGE_TEXT], const struct ss_change *change) {
    double percent = 100 * change->size;
    if (change->shape == SS_SHAPE_STEP)
        snprintf(text, SS_CHANGE_TEXT, "a step of %+.1f %% after %.0f %% of the time", percent,
            100 * change->at);
    else if (change->shape == SS_SHAPE_DRIFT)
        snprintf(text, SS_CHANGE_TEXT, "a drift of %+.1f %%", percent);
    else
        snprintf(text, SS_CHANGE_TEXT, "%+.1f %% while it warmed up", percent);
}
