/* SPDX-License-Identifier: Apache-2.0 */
#include "effects.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "base/owned.h"
#include "group_tests.h"
#include "regression.h"

/* Regressors of the drift: a constant and a cubic. */
#define DRIFT 4

/* Probability that any suspect is accused by chance. */
#define ALPHA 0.05

/* Probability of finding the smallest cost that the forecast announces. */
#define POWER 0.9

/* A suspect that loses less than this part of the requested CPU time cannot be tested. */
#define LOST_MIN (1.0 / 3)

/* A suspect that makes up for more than this part of the withheld CPU time only shifts work. */
#define RETURNED_MIN 0.5

/* A suspect that seems to make up for more than this part has more work than before the study. */
#define RETURNED_MAX 1.5

double effects_quantile(size_t tests, double freedom) {
    return gsl_cdf_tdist_Pinv(1 - ALPHA / (2 * (double)tests), freedom);
}

double effects_percent(double logarithm) {
    return 100 * expm1(logarithm);
}

static size_t column_of(size_t code) {
    return DRIFT + 2 * code;
}

double effects_found_from(const struct codes *codes, double deviation, double depth) {
    size_t columns = column_of(codes_count(codes));
    if (codes->slots <= columns)
        return NAN;
    double freedom = (double)(codes->slots - columns);
    double error = 2 * deviation / sqrt((double)codes->slots);
    double found = effects_quantile(codes->suspects, freedom) + gsl_cdf_tdist_Pinv(POWER, freedom);
    return found * error / depth;
}

/* Writes a constant and Legendre polynomials, for a slot's position in the study from -1 to 1. */
static void write_drift(double *row, size_t slot, size_t slots) {
    double x = 2 * ((double)slot + 0.5) / (double)slots - 1;
    row[0] = 1;
    row[1] = x;
    row[2] = (3 * x * x - 1) / 2;
    row[3] = (5 * x * x * x - 3 * x) / 2;
}

static void write_row(double *row, const struct codes *codes, size_t slot) {
    write_drift(row, slot, codes->slots);
    for (size_t i = 0; i < codes_count(codes); i++) {
        row[column_of(i)] = codes_low(codes, i, slot);
        row[column_of(i) + 1] = slot > 0 && codes_low(codes, i, slot - 1);
    }
}

/*
 * Fits the known values of a series that has one value per slot. The caller closes `regression`,
 * which holds the fit. Returns false if there is no fit.
 */
static bool fit_series(
    struct regression *regression, const struct codes *codes, const double *series) {
    size_t columns = column_of(codes_count(codes)), rows = 0;
    SS_OWNED(free) double *regressors = calloc(codes->slots * columns, sizeof *regressors);
    SS_OWNED(free) double *values = calloc(codes->slots, sizeof *values);
    *regression = (struct regression){0};
    if (!regressors || !values)
        return false;
    for (size_t slot = 0; slot < codes->slots; slot++) {
        if (!isfinite(series[slot]))
            continue;
        write_row(regressors + rows * columns, codes, slot);
        values[rows++] = series[slot];
    }
    if (!regression_open(regression, regressors, rows, columns))
        return false;
    regression_fit(regression, values);
    return true;
}

static struct effects_value value_of(struct regression_sum sum, double quantile) {
    return (struct effects_value){
        sum.value, {sum.value - quantile * sum.error, sum.value + quantile * sum.error}};
}

/* Returns the mean CPU time over the slots without throttling of this suspect. */
static double usual_cpu(const struct codes *codes, size_t suspect, const double *cpu) {
    double sum = 0;
    size_t count = 0;
    for (size_t slot = 0; slot < codes->slots; slot++) {
        if (!isfinite(cpu[slot]) || codes_low(codes, suspect, slot))
            continue;
        sum += cpu[slot];
        count++;
    }
    return count > 0 ? sum / (double)count : NAN;
}

/*
 * Returns by how much the codes of the others changed the mean CPU time of a suspect: suspects that
 * share CPUs use what a throttled one leaves. Returns 0 if this may be chance, because the errors
 * of many small changes would hide that a suspect uses CPU time later.
 */
static struct regression_sum change_by_others(
    const struct effects_input *input, size_t suspect, const struct regression *regression) {
    const struct codes *codes = input->codes;
    double weights[REGRESSION_COLUMNS_MAX] = {0};
    for (size_t slot = 0; slot < codes->slots; slot++) {
        for (size_t other = 0; other < codes->suspects; other++) {
            if (other != suspect && isfinite(input->cpu[suspect][slot]) &&
                codes_low(codes, other, slot))
                weights[column_of(other)] += 1 / (double)regression->rows;
        }
    }
    struct regression_sum sum = regression_sum_of(regression, weights);
    double quantile = effects_quantile(codes->suspects, regression_freedom(regression));
    return fabs(sum.value) > quantile * sum.error ? sum : (struct regression_sum){0, 0};
}

/*
 * Estimates how much of the withheld CPU time the suspect used later. A queue catches up at full
 * speed until it is empty. This may take many slots, so the coefficient for the slot after does not
 * show it. The mean over the whole study does: without the changes by `others`, it equals the usual
 * CPU time of the suspect.
 */
static void estimate_return(struct effects_one *one, const struct effects_input *input,
    size_t suspect, struct regression_sum others) {
    const struct codes *codes = input->codes;
    const struct effects_usual *usual = &input->usual[suspect];
    double values[2][2 * CODES_LENGTH];
    size_t counts[2] = {0};
    for (size_t slot = 0; slot < codes->slots; slot++) {
        double cpu = input->cpu[suspect][slot];
        size_t low = codes_low(codes, suspect, slot);
        if (isfinite(cpu))
            values[low][counts[low]++] = cpu - others.value;
    }
    struct stats_sample free = stats_sample_of(values[0], counts[0]);
    struct stats_sample low = stats_sample_of(values[1], counts[1]);
    double share = (double)low.count / (double)(low.count + free.count);
    double more = share * low.mean + (1 - share) * free.mean - usual->mean;
    double variance =
        (share * low.variance + (1 - share) * free.variance) / (double)(low.count + free.count);
    double error = sqrt(usual->error * usual->error + variance + others.error * others.error);
    double withheld = share * (usual->mean - low.mean);
    double quantile = effects_quantile(codes->suspects, (double)codes->slots);
    if (withheld > 0)
        one->returned = value_of(
            (struct regression_sum){.value = 1 + more / withheld, .error = error / withheld},
            quantile);
    one->grew = more > quantile * error && more > (RETURNED_MAX - 1) * withheld;
}

/*
 * Sets how much CPU time the suspect lost while throttled, how its CPU time depended on the other
 * codes, and how much it used later. Returns the standard error of the lost part.
 */
static double estimate_cpu(
    struct effects *effects, const struct effects_input *input, size_t suspect) {
    const struct codes *codes = input->codes;
    const double *cpu = input->cpu[suspect];
    struct regression regression = {0};
    double usual = usual_cpu(codes, suspect, cpu), error = NAN;
    effects->codes[suspect].withheld = NAN;
    for (size_t other = 0; other < codes->suspects; other++)
        effects->crossed[suspect][other] = NAN;
    if (usual > 0 && fit_series(&regression, codes, cpu)) {
        size_t count = codes->suspects;
        for (size_t other = 0; other < count; other++) {
            struct regression_sum sum = regression_at(&regression, column_of(other));
            /* All pairs of suspects are tested for a change by the code of another one. */
            double quantile = effects_quantile(
                other == suspect ? count : count * (count - 1), regression_freedom(&regression));
            effects->crossed[suspect][other] = sum.value / usual;
            effects->crossed_found[suspect][other] = fabs(sum.value) > quantile * sum.error;
            if (other != suspect)
                continue;
            effects->codes[suspect].withheld = -sum.value / usual;
            error = sum.error / usual;
        }
        estimate_return(&effects->codes[suspect], input, suspect,
            change_by_others(input, suspect, &regression));
    }
    regression_close(&regression);
    return error;
}

/* Divides a sum by the part of CPU time that was withheld, and combines their errors. */
static struct effects_value per_withheld(
    struct regression_sum sum, struct regression_sum withheld, double quantile) {
    struct regression_sum ratio = {.value = sum.value / withheld.value};
    ratio.error = hypot(sum.error, ratio.value * withheld.error) / fabs(withheld.value);
    return value_of(ratio, quantile);
}

static bool contains_zero(const struct effects_value *value) {
    return value->interval.low <= 0 && value->interval.high >= 0;
}

static enum effects_verdict judge(const struct effects_one *one, double depth) {
    if (!(one->withheld >= LOST_MIN * depth))
        return EFFECTS_UNTESTABLE;
    if (contains_zero(&one->now))
        return EFFECTS_NOTHING;
    if (one->now.value < 0)
        return EFFECTS_SUPPORTS;
    /* A small net effect may include zero by chance, so the slot after must show a loss as well. */
    if ((contains_zero(&one->net) && one->after.interval.high < 0) ||
        (!one->grew && one->returned.value > RETURNED_MIN && one->returned.interval.low > 0))
        return EFFECTS_SHIFTS;
    return EFFECTS_HURTS;
}

static void estimate_one(struct effects *effects, const struct effects_input *input,
    const struct regression *regression, size_t code) {
    struct effects_one *one = &effects->codes[code];
    double weights[REGRESSION_COLUMNS_MAX] = {0};
    weights[column_of(code)] = weights[column_of(code) + 1] = 1;
    struct regression_sum now = regression_at(regression, column_of(code));
    struct regression_sum after = regression_at(regression, column_of(code) + 1);
    struct regression_sum both = regression_sum_of(regression, weights);
    struct regression_sum withheld = {.value = input->depth};
    double quantile = effects->quantile;
    one->now = value_of(now, quantile);
    one->after = value_of(after, quantile);
    one->withheld = input->depth;
    one->returned = (struct effects_value){NAN, {NAN, NAN}};
    if (code < input->codes->suspects) {
        withheld.error = estimate_cpu(effects, input, code);
        withheld.value = one->withheld;
    }
    one->cost = per_withheld(now, withheld, quantile);
    one->net = per_withheld(both, withheld, quantile);
    one->verdict = judge(one, input->depth);
    if (code >= input->codes->suspects && !contains_zero(&one->now))
        effects->ghost_found = true;
}

#define HALVES_DRIFT 3

/*
 * Averages each slot of the first half with the slot of the inverted codes. Effects of single
 * suspects cancel to a constant in these means; effects of pairs remain. Returns the number of
 * known means.
 */
static size_t fold(const struct effects_input *input, double *means, size_t *slots) {
    size_t count = 0;
    for (size_t slot = 0; slot < CODES_LENGTH; slot++) {
        double mean = (input->figures[slot] + input->figures[slot + CODES_LENGTH]) / 2;
        if (!isfinite(mean))
            continue;
        slots[count] = slot;
        means[count++] = mean;
    }
    return count;
}

/* Returns the regressor of a pair: 1 if both are in the same state, else -1. */
static double product(const struct codes *codes, size_t one, size_t other, size_t slot) {
    return codes_low(codes, one, slot) == codes_low(codes, other, slot) ? 1 : -1;
}

static struct effects_pair fit_pair(const struct codes *codes, const double *means,
    const size_t *slots, size_t count, const size_t pair[2]) {
    double regressors[CODES_LENGTH * (HALVES_DRIFT + 1)], *row = regressors;
    struct effects_pair found = {.one = pair[0], .other = pair[1]};
    struct regression regression;
    for (size_t i = 0; i < count; i++, row += HALVES_DRIFT + 1) {
        double drift[DRIFT];
        write_drift(drift, slots[i], CODES_LENGTH);
        for (size_t column = 0; column < HALVES_DRIFT; column++)
            row[column] = drift[column];
        row[HALVES_DRIFT] = product(codes, pair[0], pair[1], slots[i]);
    }
    if (regression_open(&regression, regressors, count, HALVES_DRIFT + 1)) {
        regression_fit(&regression, means);
        struct regression_sum sum = regression_at(&regression, HALVES_DRIFT);
        found.t = sum.value / sum.error;
    }
    regression_close(&regression);
    return found;
}

/* Keeps a pair if it is among those with the largest t. */
static void keep_pair(struct effects *effects, struct effects_pair pair) {
    size_t place = effects->pairs;
    while (place > 0 && fabs(effects->pair[place - 1].t) < fabs(pair.t))
        place--;
    if (place == EFFECTS_PAIRS_MAX)
        return;
    if (effects->pairs < EFFECTS_PAIRS_MAX)
        effects->pairs++;
    for (size_t i = effects->pairs - 1; i > place; i--)
        effects->pair[i] = effects->pair[i - 1];
    effects->pair[place] = pair;
}

static void find_pairs(struct effects *effects, const struct effects_input *input) {
    const struct codes *codes = input->codes;
    double means[CODES_LENGTH];
    size_t slots[CODES_LENGTH];
    if (codes->slots <= CODES_LENGTH || codes->suspects < 2)
        return;
    size_t count = fold(input, means, slots);
    if (count <= HALVES_DRIFT + 1)
        return;
    double quantile = effects_quantile(
        codes->suspects * (codes->suspects - 1) / 2, (double)(count - HALVES_DRIFT - 1));
    for (size_t one = 0; one < codes->suspects; one++) {
        for (size_t other = one + 1; other < codes->suspects; other++) {
            struct effects_pair pair = fit_pair(codes, means, slots, count, (size_t[]){one, other});
            if (fabs(pair.t) > quantile)
                keep_pair(effects, pair);
        }
    }
}

bool effects_estimate(struct effects *effects, const struct effects_input *input) {
    struct regression regression;
    *effects = (struct effects){0};
    if (!fit_series(&regression, input->codes, input->figures)) {
        regression_close(&regression);
        return false;
    }
    effects->slots = regression.rows;
    effects->deviation = sqrt(regression.variance);
    effects->quantile = effects_quantile(input->codes->suspects, regression_freedom(&regression));
    for (size_t code = 0; code < codes_count(input->codes); code++)
        estimate_one(effects, input, &regression, code);
    regression_close(&regression);
    find_pairs(effects, input);
    return true;
}
