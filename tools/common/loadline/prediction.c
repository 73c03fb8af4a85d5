/* SPDX-License-Identifier: Apache-2.0 */
#include "prediction.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdbool.h>

#define TERMS_MAX 3

/* The levels contradict a shape if its residuals are less probable than this. */
#define CONTRADICTED 0.01

/* Distance between the loads that are tried for a bend at an unknown load. */
#define BEND_STEP 0.0025
#define BENDS_MAX 402

/* A load counts as measured if it is above the highest level by at most this. */
#define SAME_LOAD 0.005

/* Loads from here on count as full load. */
#define FULL 0.995

/* A bend is possible if the sum of squared residuals exceeds the smallest one by less than this. */
#define BEND_SQUARES 3.84

/* Minimum number of levels above and below a bend to show it. */
#define LEVELS_ABOVE 2
#define LEVELS_BELOW 2

#define LEVELS_MIN 4

/* If bursts have a smaller error, they differ by rounding only, and their error is unknown. */
#define BURST_ERROR_MIN 1e-9

struct shape {
    enum loadline_shape kind;
    double bend;
    bool is_placed; /* the bend was fitted, which costs a degree of freedom */
};

/* The levels; bursts are one more level. */
struct data {
    double loads[LOADLINE_LEVELS_MAX + 1];
    double throughputs[LOADLINE_LEVELS_MAX + 1];
    /* error of a level divided by the error of this point */
    double weights[LOADLINE_LEVELS_MAX + 1];
    size_t count;
    struct ssreport_sureness error; /* uncertainty of ln T at a level */
};

struct result {
    struct ssreport_band range;
    struct ssreport_interval knee; /* loads of the bend; NaN without one */
    double squares;                /* sum of squared residuals, in standard errors */
    double freedom;
    double criterion; /* Akaike's, to compare shapes */
    bool fits;
};

/* Sets the terms of T / L, or L / T, at a load. Returns their number. */
static size_t find_terms(const struct shape *shape, double load, double terms[TERMS_MAX]) {
    double below = fmin(load, shape->bend);
    terms[0] = 1;
    terms[1] = load;
    switch (shape->kind) {
    case LOADLINE_CURVE:
        terms[2] = load * load;
        return 3;
    case LOADLINE_KNEE:
        terms[2] = fmax(load - shape->bend, 0) / load;
        return 3;
    case LOADLINE_LIMIT:
        terms[0] = below / load;
        terms[1] = below * below / load;
        return 2;
    default:
        return 2;
    }
}

static bool is_shown(const struct shape *shape, const struct data *data) {
    size_t above = 0, below = 0;
    for (size_t i = 0; i < data->count; i++) {
        above += data->loads[i] > shape->bend;
        below += data->loads[i] <= shape->bend;
    }
    size_t enough = data->loads[data->count - 1] >= FULL ? 1 : LEVELS_ABOVE;
    return shape->kind == LOADLINE_STRAIGHT || shape->kind == LOADLINE_CURVE ||
           (above >= enough && below >= LEVELS_BELOW);
}

/* Converts a range of T / L, or L / T, at a load to a range of T, which may have no upper end. */
static struct ssreport_band range_of(double load, double rate, double half, bool is_inverse) {
    double low = fmax(rate - half, 0), high = rate + half;
    if (!is_inverse)
        return (struct ssreport_band){load * rate, load * low, load * high};
    return (struct ssreport_band){load / rate, load / high, low > 0 ? load / low : INFINITY};
}

/*
 * Fits by least squares of relative residuals. The error is known, so the width of intervals does
 * not depend on how well a shape fits. Returns false if the points do not determine the shape.
 */
static bool fit(struct result *result, const struct shape *shape, const struct data *data,
    const struct loadline_question *question) {
    double terms[TERMS_MAX], at = question->load;
    bool is_inverse = shape->kind == LOADLINE_CURVE;
    size_t count = find_terms(shape, at, terms);
    if (!is_shown(shape, data) || data->count <= count + shape->is_placed)
        return false;
    gsl_matrix *matrix = gsl_matrix_alloc(data->count, count);
    gsl_matrix *covariance = gsl_matrix_alloc(count, count);
    gsl_vector *ones = gsl_vector_alloc(data->count), *fitted = gsl_vector_alloc(count);
    gsl_vector *place = gsl_vector_alloc(count);
    gsl_multifit_linear_workspace *workspace = gsl_multifit_linear_alloc(data->count, count);
    double squares, rate, deviation;
    for (size_t i = 0; i < count; i++)
        gsl_vector_set(place, i, terms[i]);
    for (size_t i = 0; i < data->count; i++) {
        find_terms(shape, data->loads[i], terms);
        double value = data->throughputs[i] / data->loads[i];
        double scale = data->weights[i] / (is_inverse ? 1 / value : value);
        gsl_vector_set(ones, i, data->weights[i]);
        for (size_t j = 0; j < count; j++)
            gsl_matrix_set(matrix, i, j, scale * terms[j]);
    }
    gsl_multifit_linear(matrix, ones, fitted, covariance, &squares, workspace);
    /* Undo GSL's scaling of the covariance to the size of the residuals. */
    double variance = squares / (double)(data->count - count);
    gsl_multifit_linear_est(place, fitted, covariance, &rate, &deviation);
    double known = data->error.error * data->error.error;
    double error = variance > 0 ? deviation * sqrt(known / variance) : 0;
    double half = ssreport_mean_interval(
        0, (struct ssreport_sureness){error, data->error.freedom}, question->confidence)
                      .high;
    *result = (struct result){
        .range = range_of(at, rate, half, is_inverse),
        .knee = {isinf(shape->bend) ? NAN : shape->bend, isinf(shape->bend) ? NAN : shape->bend},
        .squares = squares / known,
        .freedom = (double)(data->count - count - shape->is_placed),
        .criterion = squares / known + 2 * (double)count,
    };
    result->fits = gsl_cdf_fdist_Q(result->squares / result->freedom, result->freedom,
                       data->error.freedom) > CONTRADICTED;
    gsl_multifit_linear_free(workspace);
    gsl_vector_free(place);
    gsl_vector_free(fitted);
    gsl_vector_free(ones);
    gsl_matrix_free(covariance);
    gsl_matrix_free(matrix);
    return isfinite(rate) && isfinite(half);
}

static void unite(struct ssreport_band *all, const struct ssreport_band *one) {
    all->low = isnan(all->low) ? one->low : fmin(all->low, one->low);
    all->high = isnan(all->high) ? one->high : fmax(all->high, one->high);
}

/*
 * Returns an upper bound of the throughput below full load: the throughput at full load plus
 * `errors` standard errors. Returns infinity if full load was not measured, or has less throughput
 * than the level below.
 */
static double find_most(const struct data *data, double errors) {
    size_t last = data->count - 1;
    double error = data->error.error / data->weights[last];
    if (data->loads[last] < FULL || data->throughputs[last] < data->throughputs[last - 1])
        return INFINITY;
    return data->throughputs[last] * exp(errors * error);
}

/*
 * Fits a shape with a bend anywhere in a range. `result` gets the squares of the best fit; and,
 * from all fits that are not much worse, the union of ranges, the middle, and the loads of the
 * bend. The criterion uses the mean likelihood over all loads instead of the largest one, so that a
 * bend that fits at few loads only is less probable.
 */
static bool fit_anywhere(struct result *result, enum loadline_shape kind, const double range[2],
    const struct data *data, const struct loadline_question *question) {
    static const struct ssreport_band unknown = {NAN, NAN, NAN};
    struct ssreport_band all = unknown, middles = unknown, bends = unknown;
    struct result fits[BENDS_MAX];
    double places[BENDS_MAX], most = find_most(data, 1), likelihood = 0;
    double span = data->loads[data->count - 1] - data->loads[0];
    size_t count = 0, best = 0;
    for (double bend = range[0]; bend <= range[1] + BEND_STEP / 2 && count < BENDS_MAX;
         bend += BEND_STEP) {
        if (!fit(&fits[count], &(struct shape){kind, bend, true}, data, question))
            continue;
        places[count] = bend;
        if (fits[count].squares < fits[best].squares)
            best = count;
        count++;
    }
    if (count == 0)
        return false;
    *result = fits[best];
    for (size_t i = 0; i < count; i++) {
        double middle = fits[i].range.y;
        likelihood += exp((result->squares - fits[i].squares) / 2) * BEND_STEP / span;
        if (fits[i].squares > result->squares + BEND_SQUARES)
            continue;
        unite(&all, &fits[i].range);
        unite(&bends, &(struct ssreport_band){.low = places[i], .high = places[i]});
        if (middle > 0 && middle <= most)
            unite(&middles, &(struct ssreport_band){.low = middle, .high = middle});
    }
    result->criterion -= 2 * log(likelihood);
    result->range.low = all.low;
    result->range.high = all.high;
    result->knee =
        (struct ssreport_interval){bends.low - BEND_STEP / 2, bends.high + BEND_STEP / 2};
    if (middles.low > 0)
        result->range.y = sqrt(middles.low * middles.high);
    return true;
}

/* Converts an error to the degrees of freedom of `assumed`, so that intervals keep their width. */
static double widen_error(const struct ssreport_sureness *error,
    const struct ssreport_sureness *assumed, double confidence) {
    double quantile = 0.5 + confidence / 2;
    return error->error * gsl_cdf_tdist_Pinv(quantile, error->freedom) /
           gsl_cdf_tdist_Pinv(quantile, assumed->freedom);
}

static void gather(struct data *data, const struct loadline *line, size_t count,
    const struct loadline_question *question) {
    *data =
        (struct data){.count = count, .error = {line->error.error / M_SQRT2, line->error.freedom}};
    for (size_t i = 0; i < count; i++) {
        data->loads[i] = line->levels[i].load;
        data->throughputs[i] = exp(line->levels[i].log_mean);
        data->weights[i] = 1;
    }
    if (isnan(question->burst))
        return;
    data->loads[count] = 1;
    data->throughputs[count] = question->burst;
    double burst = widen_error(&question->burst_error, &data->error, question->confidence);
    data->weights[count] = burst > BURST_ERROR_MIN ? data->error.error / burst : 1;
    data->count++;
}

struct sum {
    double weights, logs, best;
    struct result least; /* the fit with the smallest sum of squares, even if it does not fit */
    bool has_least;
};

/* Adds a fit, and weights it by Akaike's criterion, relative to the first. */
static void add_fit(struct loadline_prediction *prediction, struct sum *sum,
    enum loadline_shape shape, const struct result *result) {
    struct loadline_fit *fit = &prediction->fits[prediction->fit_count++];
    *fit = (struct loadline_fit){
        shape, result->knee, result->range, result->fits && result->range.y > 0};
    if (result->range.y > 0 && (!sum->has_least || result->squares < sum->least.squares)) {
        sum->least = *result;
        sum->has_least = true;
    }
    if (!fit->fits)
        return;
    if (sum->weights == 0)
        sum->best = result->criterion;
    double weight = exp((sum->best - result->criterion) / 2);
    sum->weights += weight;
    sum->logs += weight * log(fit->range.y);
    unite(&prediction->free, &fit->range);
}

/*
 * Returns the range of a shape that does not fit, widened to the size of its residuals. Returns NaN
 * if no shape was fitted.
 */
static struct ssreport_band widened(const struct result *result) {
    const struct ssreport_band *range = &result->range;
    double factor = sqrt(result->squares / result->freedom);
    return (struct ssreport_band){.y = range->y,
        .low = range->y * pow(fmax(range->low / range->y, DBL_MIN), factor),
        .high = range->y * pow(range->high / range->y, factor)};
}

static void fit_all(struct loadline_prediction *prediction, const struct data *data,
    const struct loadline_question *question) {
    struct sum sum = {0};
    struct result result;
    bool has_burst = !isnan(question->burst);
    double lowest = data->loads[0];
    prediction->free = (struct ssreport_band){NAN, NAN, NAN};
    prediction->fit_count = 0;
    if (fit(&result, &(struct shape){LOADLINE_STRAIGHT, INFINITY, false}, data, question))
        add_fit(prediction, &sum, LOADLINE_STRAIGHT, &result);
    if (fit(&result, &(struct shape){LOADLINE_CURVE, INFINITY, false}, data, question))
        add_fit(prediction, &sum, LOADLINE_CURVE, &result);
    for (size_t i = 0; i < question->knee_count; i++) {
        if (fit(&result, &(struct shape){LOADLINE_KNEE, question->knees[i], false}, data, question))
            add_fit(prediction, &sum, LOADLINE_KNEE, &result);
    }
    const double below[] = {lowest, prediction->highest}, above[] = {prediction->highest, 1};
    if (fit_anywhere(&result, LOADLINE_KNEE, below, data, question))
        add_fit(prediction, &sum, LOADLINE_KNEE, &result);
    if (fit_anywhere(&result, LOADLINE_LIMIT, below, data, question))
        add_fit(prediction, &sum, LOADLINE_LIMIT, &result);
    /* Bursts allow a bend anywhere up to full load. */
    if (has_burst && fit_anywhere(&result, LOADLINE_KNEE, above, data, question))
        add_fit(prediction, &sum, LOADLINE_KNEE, &result);
    if (has_burst)
        prediction->free.high = fmin(prediction->free.high, find_most(data, 2));
    prediction->free.y = exp(sum.logs / sum.weights);
    if (sum.weights == 0)
        prediction->free = widened(&sum.least);
}

static void predict_from(struct loadline_prediction *prediction, const struct loadline *line,
    size_t count, const struct loadline_question *question) {
    struct data data;
    gather(&data, line, count, question);
    prediction->highest = line->levels[count - 1].load;
    fit_all(prediction, &data, question);
    prediction->range = prediction->free;
    if (isnan(question->burst)) {
        double flat = data.throughputs[count - 1] * exp(-2 * data.error.error);
        prediction->range.low = fmin(prediction->range.low, flat);
    }
}

static void widen(struct ssreport_band *band, double missed) {
    band->low = fmin(band->low, band->y * exp(-missed));
    band->high = fmax(band->high, band->y * exp(missed));
}

const char *loadline_predict(struct loadline_prediction *prediction, const struct loadline *line,
    const struct loadline_question *question) {
    struct loadline_prediction earlier;
    size_t highest = line->count - 1;
    *prediction = (struct loadline_prediction){.missed = NAN, .unidentified = NAN};
    if (line->count < LEVELS_MIN)
        return "fewer than four levels above idle have a throughput";
    if (question->load <= line->levels[highest].load + SAME_LOAD) {
        prediction->highest = line->levels[highest].load;
        prediction->range = loadline_throughput(line, question->load, question->confidence);
        prediction->free = prediction->range;
        return isnan(prediction->range.y) ? "no level is near this load" : NULL;
    }
    struct loadline_question known = *question;
    known.load = line->levels[highest].load;
    predict_from(&earlier, line, highest, &known);
    predict_from(prediction, line, line->count, question);
    if (!(prediction->free.y > 0))
        return "the levels determine no shape";
    prediction->missed = fabs(line->levels[highest].log_mean - log(earlier.free.y));
    widen(&prediction->free, prediction->missed);
    widen(&prediction->range, prediction->missed);
    for (size_t i = 0; i < question->knee_count; i++) {
        double knee = question->knees[i];
        if (isnan(question->burst) && knee >= prediction->highest && knee < question->load &&
            !(prediction->unidentified <= knee))
            prediction->unidentified = knee;
    }
    return NULL;
}
