/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Compares statistics with R's for the pairs in data/statistics (see make.R there), to ten
 * significant digits.
 */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interference.h"
#include "measure/figures.h"
#include "report_statistics.h"
#include "unit.h"
#include <showstopper/random.h>

#define PAIRS_MAX  64
#define TEN_DIGITS 5e-11

struct pairs {
    size_t count; /* valid pairs of the selected half */
    double x[PAIRS_MAX], y[PAIRS_MAX];
    size_t point_count; /* all points of the case */
    struct ssreport_point points[PAIRS_MAX];
};

static double number_of(const char *field) {
    return *field ? strtod(field, NULL) : NAN;
}

static struct pairs read_pairs(const char *name, int half) {
    struct pairs pairs = {0};
    char line[DATA_LINE_MAX], *fields[4];
    FILE *stream = open_data("pairs.csv");
    while (read_fields(stream, line, fields, 4)) {
        if (strcmp(fields[0], name) != 0)
            continue;
        struct ssreport_point point = {.half = atoi(fields[1]),
            .load = number_of(fields[2]),
            .throughput = number_of(fields[3])};
        assert_true(pairs.point_count < PAIRS_MAX);
        pairs.points[pairs.point_count++] = point;
        if ((half != 0 && point.half != half) || isnan(point.throughput))
            continue;
        pairs.x[pairs.count] = point.load;
        pairs.y[pairs.count++] = point.throughput;
    }
    fclose(stream);
    return pairs;
}

static bool say_mean(const struct pairs *pairs, const char *name, double *value) {
    struct pairs sorted = *pairs;
    struct ssreport_mean usual = ssreport_mean_of(pairs->y, pairs->count, 0.95);
    struct ssreport_mean strict = ssreport_mean_of(pairs->y, pairs->count, 0.99);
    const struct {
        const char *name;
        double value;
    } said[] = {{"mean", usual.mean}, {"deviation", usual.deviation}, {"low", usual.low},
        {"high", usual.high}, {"low_99", strict.low},
        {"median", ssreport_median_of(sorted.y, sorted.count)}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (strcmp(said[i].name, name) == 0) {
            *value = said[i].value;
            return true;
        }
    }
    return false;
}

static bool say_errors(const struct pairs *pairs, const char *name, double *value) {
    struct ss_figures figures = {0};
    bool known = true;
    for (size_t i = 0; i < pairs->count; i++)
        ss_figures_add(&figures, pairs->x[i], pairs->y[i]);
    if (strcmp(name, "error_mean_percent") == 0)
        *value = ss_figures_error_mean_percent(&figures);
    else if (strcmp(name, "error_mse_e4") == 0)
        *value = ss_figures_error_mse_e4(&figures);
    else if (strcmp(name, "error_p95_percent") == 0)
        *value = ss_figures_error_p95_percent(&figures);
    else
        known = false;
    ss_figures_free(&figures);
    return known;
}

static bool say_fit(const struct pairs *pairs, const char *name, double *value) {
    struct ssreport_fit fit = ssreport_fit_line(pairs->x, pairs->y, pairs->count);
    const struct {
        const char *name;
        double value;
    } said[] = {{"count", (double)fit.count}, {"intercept", fit.intercept}, {"slope", fit.slope},
        {"intercept_error", fit.intercept_error}, {"slope_error", fit.slope_error},
        {"intercept_p", fit.intercept_p}, {"slope_p", fit.slope_p}, {"r_squared", fit.r_squared}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (strcmp(said[i].name, name) == 0) {
            *value = said[i].value;
            return true;
        }
    }
    double at;
    char which[8] = "";
    if (sscanf(name, "band_%lf_%7s", &at, which) < 1)
        return false;
    struct ssreport_band band = ssreport_fit_at(&fit, at, 0.95);
    *value = strcmp(which, "low") == 0 ? band.low : strcmp(which, "high") == 0 ? band.high : band.y;
    return true;
}

static bool say_interference(const struct pairs *pairs, const char *name, double *value) {
    struct ssreport_interference result;
    assert_int_equal(ssreport_interference_of(pairs->points, pairs->point_count, 0.95, &result), 0);
    const struct {
        const char *name;
        double value;
    } said[] = {{"metric_first", result.halves[0]}, {"metric_second", result.halves[1]},
        {"metric", result.metric}, {"angle", result.angle}, {"significant", result.significant}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (strcmp(said[i].name, name) == 0) {
            *value = said[i].value;
            return true;
        }
    }
    return false;
}

/* Compares all figures that R computed for this case. */
static void expect_case(const char *name, size_t rows) {
    char line[DATA_LINE_MAX], *fields[4];
    size_t compared = 0;
    FILE *stream = open_data("results.csv");
    while (read_fields(stream, line, fields, 4)) {
        if (strcmp(fields[0], name) != 0)
            continue;
        struct pairs pairs = read_pairs(name, atoi(fields[1]));
        double want = number_of(fields[3]), have = NAN;
        if (!say_mean(&pairs, fields[2], &have) && !say_errors(&pairs, fields[2], &have) &&
            !say_fit(&pairs, fields[2], &have) && !say_interference(&pairs, fields[2], &have))
            fail_msg("unknown figure %s", fields[2]);
        bool same = isnan(want) ? isnan(have) : fabs(have - want) <= TEN_DIGITS * fabs(want);
        if (!same)
            fail_msg(
                "%s, half %s: %s is %.15g, R says %.15g", name, fields[1], fields[2], have, want);
        compared++;
    }
    fclose(stream);
    if (compared != rows)
        fail_msg("%s: %zu figures were compared, not %zu", name, compared, rows);
}

static void staircase_statistics_agree_with_r(void **state) {
    (void)state;
    expect_case("known", 65);
}

static void statistics_of_an_insignificant_slope_agree_with_r(void **state) {
    (void)state;
    expect_case("noisy", 65);
}

static void statistics_of_rising_throughput_agree_with_r(void **state) {
    (void)state;
    expect_case("rising", 65);
}

static void statistics_of_constant_throughput_agree_with_r(void **state) {
    (void)state;
    expect_case("constant", 23);
}

static void statistics_of_a_single_load_agree_with_r(void **state) {
    (void)state;
    expect_case("same_x", 17);
}

static void statistics_with_missing_steps_agree_with_r(void **state) {
    (void)state;
    expect_case("missing", 65);
}

static void statistics_with_a_missing_half_agree_with_r(void **state) {
    (void)state;
    expect_case("one_half", 48);
}

static void statistics_of_three_points_agree_with_r(void **state) {
    (void)state;
    expect_case("three", 48);
}

static void statistics_of_two_points_agree_with_r(void **state) {
    (void)state;
    expect_case("two", 16);
}

static void statistics_of_too_few_points_are_undefined(void **state) {
    (void)state;
    const double x[] = {0.5, 0.7, 0.9}, y[] = {3, 4, 6};
    struct ssreport_mean mean = ssreport_mean_of(y, 0, 0.95);
    assert_true(isnan(mean.mean) && isnan(mean.low));
    mean = ssreport_mean_of(y, 1, 0.95);
    assert_true(mean.mean == 3 && isnan(mean.deviation) && isnan(mean.high));
    assert_true(isnan(ssreport_median_of(NULL, 0)));
    static const char *const missing[] = {"no fit: there are no points",
        "no fit: there is only one point", "no fit: there are only two points"};
    for (size_t count = 0; count < 3; count++) {
        struct ssreport_fit fit = ssreport_fit_line(x, y, count);
        assert_true(isnan(fit.slope) && isnan(fit.intercept) && isnan(fit.slope_p));
        assert_true(isnan(fit.slope_error) && isnan(fit.r_squared));
        assert_true(isnan(ssreport_fit_at(&fit, 0.5, 0.95).y));
        assert_string_equal(ssreport_fit_missing(&fit), missing[count]);
    }
    struct ssreport_fit fit = ssreport_fit_line(x, y, 3);
    assert_null(ssreport_fit_missing(&fit));
    assert_true(isfinite(fit.slope_error) && isfinite(fit.slope_p));
    fit = ssreport_fit_line(y, (const double[]){1, 2, 3}, 3);
    assert_null(ssreport_fit_missing(&fit));
    fit = ssreport_fit_line((const double[]){1, 1, 1}, y, 3);
    assert_string_equal(ssreport_fit_missing(&fit), "no fit: all points have the same load");
}

static void p_value_without_scatter_is_zero_or_undefined(void **state) {
    (void)state;
    const double x[] = {0, 0.5, 1}, flat[] = {4, 4, 4}, none[] = {0, 0, 0};
    struct ssreport_fit fit = ssreport_fit_line(x, flat, 3);
    assert_true(fit.slope == 0 && fit.intercept == 4 && fit.slope_error == 0);
    assert_true(isnan(fit.slope_p) && fit.intercept_p == 0 && isnan(fit.r_squared));
    struct ssreport_band band = ssreport_fit_at(&fit, 0.3, 0.95);
    assert_true(band.low == 4 && band.y == 4 && band.high == 4);
    fit = ssreport_fit_line(x, none, 3);
    assert_true(isnan(fit.intercept_p) && isnan(fit.slope_p));
    /* With an intercept of 0 the relative loss is undefined, whatever the slope. */
    assert_true(isnan(ssreport_interference_of_fits(&fit, &fit, 0.95).metric));
    fit.slope = 1;
    assert_true(isnan(ssreport_interference_of_fits(&fit, &fit, 0.95).metric));
}

/* 0.1 is inexact, so the sum of 37 is not exactly 3.7. */
static void rounding_errors_do_not_become_a_slope(void **state) {
    (void)state;
    double same[37], other[37];
    for (int i = 0; i < 37; i++) {
        same[i] = 0.1;
        other[i] = sqrt(i + 2);
    }
    struct ssreport_fit fit = ssreport_fit_line(other, same, 37);
    assert_true(fit.slope == 0 && fit.intercept == 0.1 && isnan(fit.slope_p));
    fit = ssreport_fit_line(same, other, 37);
    assert_true(isnan(fit.slope) && isnan(fit.intercept) && isnan(fit.slope_p));
}

static void steps_without_a_load_are_ignored(void **state) {
    (void)state;
    const struct ssreport_point points[] = {{0.9, 1, 1}, {NAN, 9, 1}, {0.5, 1.5, 1}, {0.1, 2, 1},
        {0.1, 2, 2}, {0.5, 1.5, 2}, {0.5, INFINITY, 2}, {0.9, 1, 2}};
    struct ssreport_interference result;
    assert_int_equal(ssreport_interference_of(points, 8, 0.95, &result), 0);
    assert_int_equal(result.fits[0].count, 3);
    assert_int_equal(result.fits[1].count, 3);
    assert_true(result.halves[0] == result.halves[1] && result.metric > 58);
}

/* The p-value underflows: it must become 0 without an abort. */
static void underflowing_p_value_is_zero(void **state) {
    (void)state;
    double x[400], y[400];
    for (int i = 0; i < 400; i++) {
        x[i] = i;
        y[i] = 3 + 2 * i + (i % 2 ? 1e-6 : -1e-6);
    }
    struct ssreport_fit fit = ssreport_fit_line(x, y, 400);
    assert_true(fit.slope_error > 0 && fit.slope_p == 0 && fit.intercept_p == 0);
}

static struct ssreport_interference of_slopes(double first, double second, double p) {
    struct ssreport_fit fits[2] = {
        {.count = 9, .intercept = 2, .slope = 2 * first, .intercept_p = 0.01, .slope_p = 0.01},
        {.count = 9, .intercept = 5, .slope = 5 * second, .intercept_p = 0.01, .slope_p = p}};
    return ssreport_interference_of_fits(&fits[0], &fits[1], 0.95);
}

static void metric_is_the_mean_of_both_halves(void **state) {
    (void)state;
    struct ssreport_interference result = of_slopes(-0.5, -0.4, 0.049);
    assert_true(fabs(result.halves[0] - 50) < 1e-12 && fabs(result.halves[1] - 40) < 1e-12);
    assert_true(fabs(result.metric - 45) < 1e-12);
    assert_true(fabs(result.angle - 4.763641691) < 1e-8);
    assert_false(result.agree);
    assert_true(result.significant);
    /* Just inside and outside of three degrees, which are 0.0524 for a slope near 0. */
    assert_true(of_slopes(0, -0.0523, 0).agree);
    assert_false(of_slopes(0, -0.0525, 0).agree);
    assert_false(of_slopes(0, 0.0525, 0).agree);
    assert_false(of_slopes(-0.5, -0.4, 0.05).significant);
    assert_false(of_slopes(-0.5, -0.4, NAN).significant);
    assert_false(of_slopes(-0.5, NAN, NAN).agree);
}

#define SERIES 600

/*
 * Returns in how many of 400 series the interval contains the true mean, 0, and the mean width of
 * the intervals. Each value is `correlation` times the one before, plus noise.
 */
static int count_covered(double correlation, bool independent, double *width) {
    uint64_t random = 7;
    int covered = 0;
    *width = 0;
    for (int i = 0; i < 400; i++) {
        double values[SERIES], value = 0, sum = 0;
        for (int j = -50; j < SERIES; j++) {
            value = correlation * value + ss_random_next(&random) - 0.5;
            if (j >= 0)
                sum += values[j] = value;
        }
        double mean = sum / SERIES;
        struct ssreport_mean naive = ssreport_mean_of(values, SERIES, 0.95);
        struct ssreport_interval interval = ssreport_mean_interval(
            mean, ssreport_series_sureness(values, NULL, SERIES, mean), 0.95);
        if (independent)
            interval = (struct ssreport_interval){naive.low, naive.high};
        covered += interval.low <= 0 && interval.high >= 0;
        *width += (interval.high - interval.low) / 400;
    }
    return covered;
}

static void interval_of_a_series_allows_for_correlation(void **state) {
    (void)state;
    double width, naive;
    assert_that(count_covered(0, false, &width), >=, 380);
    assert_that(count_covered(0.9, false, &width), >=, 370);
    assert_that(count_covered(0.9, true, &naive), <=, 200);
    /* As with control, which makes up each difference. */
    assert_that(count_covered(-0.9, false, &width), >=, 380);
    count_covered(-0.9, true, &naive);
    assert_that(width, <, naive / 3);
}

static void interval_of_a_series_needs_two_values(void **state) {
    (void)state;
    const double values[] = {1, 3}, weights[] = {1, 3};
    assert_true(isnan(ssreport_series_sureness(values, NULL, 1, 1).error));
    assert_near(ssreport_series_sureness(values, weights, 2, 2.5).freedom, 1, 0);
    /* Both weighted differences are 1.5; their correlation of -1/2 widens nothing. */
    assert_near(ssreport_series_sureness(values, weights, 2, 2.5).error,
        sqrt((1.5 * 1.5 + 1.5 * 1.5) * 2) / 4, 1e-12);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(interval_of_a_series_allows_for_correlation),
    cmocka_unit_test(interval_of_a_series_needs_two_values),
    cmocka_unit_test(staircase_statistics_agree_with_r),
    cmocka_unit_test(statistics_of_an_insignificant_slope_agree_with_r),
    cmocka_unit_test(statistics_of_rising_throughput_agree_with_r),
    cmocka_unit_test(statistics_of_constant_throughput_agree_with_r),
    cmocka_unit_test(statistics_of_a_single_load_agree_with_r),
    cmocka_unit_test(statistics_with_missing_steps_agree_with_r),
    cmocka_unit_test(statistics_with_a_missing_half_agree_with_r),
    cmocka_unit_test(statistics_of_three_points_agree_with_r),
    cmocka_unit_test(statistics_of_two_points_agree_with_r),
    cmocka_unit_test(statistics_of_too_few_points_are_undefined),
    cmocka_unit_test(p_value_without_scatter_is_zero_or_undefined),
    cmocka_unit_test(rounding_errors_do_not_become_a_slope),
    cmocka_unit_test(steps_without_a_load_are_ignored),
    cmocka_unit_test(underflowing_p_value_is_zero),
    cmocka_unit_test(metric_is_the_mean_of_both_halves))
