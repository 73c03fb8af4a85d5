/* SPDX-License-Identifier: Apache-2.0 */

#include "prediction.h"
#include "unit.h"

#define LEVELS 10

/* Measures a curve at ten levels up to a load. */
static struct loadline measure_up_to(
    double highest, double error, double (*throughput)(double load)) {
    struct loadline_visit visits[2 * LEVELS];
    struct loadline line;
    for (int i = 0; i < LEVELS; i++) {
        double load = highest * (i + 1) / LEVELS, log = i % 2 ? error : -error;
        for (int way = 0; way < LOADLINE_WAYS; way++)
            visits[2 * i + way] = (struct loadline_visit){.target = load,
                .load = load,
                .throughput = throughput(load) * exp(way == LOADLINE_UP ? log : -log),
                .watts = NAN,
                .round = 1,
                .way = (enum loadline_way)way};
    }
    const char *failure = loadline_of(&line, visits, 2 * LEVELS);
    if (failure)
        fail_msg("%s", failure);
    return line;
}

static struct loadline measure(double (*throughput)(double load)) {
    return measure_up_to(0.6, 1e-3, throughput);
}

static struct loadline_prediction predict(
    const struct loadline *line, const struct loadline_question *question) {
    struct loadline_prediction prediction;
    const char *failure = loadline_predict(&prediction, line, question);
    if (failure)
        fail_msg("%s", failure);
    return prediction;
}

static const struct loadline_fit *find_fit(
    const struct loadline_prediction *prediction, enum loadline_shape shape) {
    size_t i = 0;
    while (i < prediction->fit_count && prediction->fits[i].shape != shape)
        i++;
    assert_that(i, <, prediction->fit_count);
    return &prediction->fits[i];
}

static const struct loadline_question at_90 = {.load = 0.9, .burst = NAN, .confidence = 0.95};

static double straight(double load) {
    return 1000 * load * (1 - 0.2 * load);
}

static double bent_at_half(double load) {
    return 1000 * (fmin(load, 0.5) + 0.25 * fmax(load - 0.5, 0));
}

static double limited(double load) {
    return 1000 * fmin(load, 0.35);
}

static double bent_at_three_quarters(double load) {
    return 1000 * (fmin(load, 0.75) + 0.25 * fmax(load - 0.75, 0));
}

static double locked(double load) {
    return 1000 * load / (1 + 0.5 * load + 0.6 * load * load);
}

static void assert_inside(const struct ssreport_band *range, double truth) {
    assert_that(range->low, <=, truth);
    assert_that(range->high, >=, truth);
}

static void straight_line_is_extrapolated(void **state) {
    (void)state;
    struct loadline line = measure(straight);
    struct loadline_prediction prediction = predict(&line, &at_90);
    assert_near(prediction.free.y / straight(0.9), 1, 0.005);
    assert_inside(&prediction.free, straight(0.9));
    assert_near(prediction.highest, 0.6, 1e-12);
}

static void prediction_far_from_noisy_levels_has_no_upper_end(void **state) {
    (void)state;
    struct loadline line = measure_up_to(0.3, 0.1, straight);
    struct loadline_prediction prediction = predict(&line, &at_90);
    assert_true(isinf(prediction.range.high));
    assert_inside(&prediction.range, straight(0.9));
    for (size_t i = 0; i < prediction.fit_count; i++)
        assert_that(prediction.fits[i].range.low, >=, 0);
}

/* A straight line alone would be off by a third. */
static void known_knee_in_the_levels_is_found(void **state) {
    (void)state;
    struct loadline line = measure(bent_at_half);
    struct loadline_question question = at_90;
    question.knees[question.knee_count++] = 0.5;
    struct loadline_prediction prediction = predict(&line, &question);
    assert_near(prediction.free.y / bent_at_half(0.9), 1, 0.03);
    assert_inside(&prediction.free, bent_at_half(0.9));
    const struct loadline_fit *straight_fit = find_fit(&prediction, LOADLINE_STRAIGHT);
    assert_false(straight_fit->fits);
    assert_that(straight_fit->range.low, >, 1.1 * bent_at_half(0.9));
}

static double bent_at_two_fifths(double load) {
    return 1000 * (fmin(load, 0.4) + 0.6 * fmax(load - 0.4, 0));
}

/* For example a change of frequency at a load that is not given. */
static void unknown_knee_in_the_levels_is_found(void **state) {
    (void)state;
    struct loadline line = measure(bent_at_two_fifths);
    struct loadline_prediction prediction = predict(&line, &at_90);
    const struct loadline_fit *fit = find_fit(&prediction, LOADLINE_KNEE);
    assert_true(fit->fits);
    assert_that(fit->knee.low, <=, 0.4);
    assert_that(fit->knee.high, >=, 0.4);
    assert_that(fit->knee.high - fit->knee.low, <, 0.03);
    assert_near(prediction.free.y / bent_at_two_fifths(0.9), 1, 0.01);
    assert_inside(&prediction.free, bent_at_two_fifths(0.9));
    assert_false(find_fit(&prediction, LOADLINE_STRAIGHT)->fits);
}

static void unknown_throughput_limit_is_found(void **state) {
    (void)state;
    struct loadline line = measure(limited);
    struct loadline_prediction prediction = predict(&line, &at_90);
    const struct loadline_fit *fit = find_fit(&prediction, LOADLINE_LIMIT);
    assert_near(prediction.free.y / 350, 1, 0.01);
    assert_inside(&prediction.free, 350);
    assert_that(fit->knee.low, <=, 0.35);
    assert_that(fit->knee.high, >=, 0.35);
    assert_that(fit->knee.high - fit->knee.low, <, 0.03);
}

static void throughput_that_falls_by_lock_contention_is_predicted(void **state) {
    (void)state;
    struct loadline line = measure(locked);
    struct loadline_prediction prediction = predict(&line, &at_90);
    assert_near(prediction.free.y / locked(0.9), 1, 0.01);
    assert_inside(&prediction.range, locked(0.9));
}

/* No level is above the knee, so the range allows for a knee right above the highest level. */
static void knee_above_the_levels_is_not_identified(void **state) {
    (void)state;
    struct loadline line = measure(bent_at_three_quarters);
    struct loadline_question question = at_90;
    question.knees[question.knee_count++] = 0.75;
    struct loadline_prediction prediction = predict(&line, &question);
    assert_that(prediction.free.low, >, bent_at_three_quarters(0.9));
    assert_inside(&prediction.range, bent_at_three_quarters(0.9));
    assert_that(prediction.range.low, <=, bent_at_three_quarters(0.6));
    assert_near(prediction.unidentified, 0.75, 1e-12);
}

/* The error of a few bursts is itself uncertain, so the same error gives a wider range. */
static void fewer_bursts_widen_the_range(void **state) {
    (void)state;
    struct loadline line = measure(bent_at_half);
    struct loadline_question question = at_90;
    question.knees[question.knee_count++] = 0.5;
    question.burst = bent_at_half(1);
    question.burst_error = (struct ssreport_sureness){2e-3, 30};
    struct loadline_prediction many = predict(&line, &question);
    question.burst_error.freedom = 1;
    struct loadline_prediction few = predict(&line, &question);
    assert_that(few.range.high / few.range.low, >, 1.001 * many.range.high / many.range.low);
}

static void bursts_at_full_load_replace_extrapolation(void **state) {
    (void)state;
    struct loadline line = measure(bent_at_three_quarters);
    struct loadline_question question = at_90;
    question.burst = bent_at_three_quarters(1);
    question.burst_error = (struct ssreport_sureness){1e-3, 9};
    struct loadline_prediction prediction = predict(&line, &question);
    assert_inside(&prediction.range, bent_at_three_quarters(0.9));
    assert_near(prediction.range.y / bent_at_three_quarters(0.9), 1, 0.03);
    assert_that(prediction.range.low, >, 0.9 * bent_at_three_quarters(0.9));
    assert_that(prediction.range.high, <, 1.1 * bent_at_three_quarters(0.9));
    assert_true(isnan(prediction.unidentified));
}

static double sagging(double load) {
    return load > 0.58 ? 0.9 * straight(load) : straight(load);
}

static void error_at_the_highest_level_widens_the_range(void **state) {
    (void)state;
    struct loadline line = measure(sagging);
    struct loadline_prediction prediction = predict(&line, &at_90);
    assert_near(prediction.missed, -log(0.9), 0.01);
    assert_that(log(prediction.free.high / prediction.free.y), >=, prediction.missed - 1e-9);
    assert_that(log(prediction.free.y / prediction.free.low), >=, prediction.missed - 1e-9);
}

static double zigzag(double load) {
    return 1000 * load * (1 + 0.05 * sin(40 * load));
}

/* The same in another unit. */
static double small_zigzag(double load) {
    return 1e-4 * zigzag(load);
}

static void prediction_does_not_depend_on_the_unit_of_throughput(void **state) {
    (void)state;
    struct loadline line = measure(zigzag), small_line = measure(small_zigzag);
    struct loadline_prediction prediction = predict(&line, &at_90);
    struct loadline_prediction small = predict(&small_line, &at_90);
    for (size_t i = 0; i < prediction.fit_count; i++)
        assert_false(prediction.fits[i].fits);
    assert_near(small.free.y / prediction.free.y, 1e-4, 1e-9);
    assert_near(small.range.low / prediction.range.low, 1e-4, 1e-9);
    assert_near(small.range.high / prediction.range.high, 1e-4, 1e-9);
}

static void measured_load_is_not_predicted(void **state) {
    (void)state;
    struct loadline line = measure(bent_at_half);
    struct loadline_question question = at_90;
    question.load = 0.48;
    struct loadline_prediction prediction = predict(&line, &question);
    assert_near(prediction.range.y, 480, 1e-6);
    assert_int_equal(prediction.fit_count, 0);
}

UNIT_MAIN(cmocka_unit_test(straight_line_is_extrapolated),
    cmocka_unit_test(prediction_far_from_noisy_levels_has_no_upper_end),
    cmocka_unit_test(known_knee_in_the_levels_is_found),
    cmocka_unit_test(unknown_knee_in_the_levels_is_found),
    cmocka_unit_test(fewer_bursts_widen_the_range),
    cmocka_unit_test(unknown_throughput_limit_is_found),
    cmocka_unit_test(throughput_that_falls_by_lock_contention_is_predicted),
    cmocka_unit_test(knee_above_the_levels_is_not_identified),
    cmocka_unit_test(bursts_at_full_load_replace_extrapolation),
    cmocka_unit_test(error_at_the_highest_level_widens_the_range),
    cmocka_unit_test(prediction_does_not_depend_on_the_unit_of_throughput),
    cmocka_unit_test(measured_load_is_not_predicted))
