/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Tests of the confidence interval of the interference metric. data/statistics/fieller.py computes
 * it in another way.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "interference.h"
#include "report_statistics.h"
#include "unit.h"

#define POINTS_MAX 64

struct staircase {
    size_t count;
    struct ssreport_point points[POINTS_MAX];
};

/* The intercept of the second half is not significantly different from 0. */
static const struct ssreport_point near_zero[] = {
    {0.1, 0.5, 2}, {0.3, -0.4, 2}, {0.5, 0.9, 2}, {0.7, 0.2, 2}, {0.9, 1.1, 2}};

static struct staircase read_staircase(const char *name) {
    struct staircase stairs = {0};
    bool is_near_zero = strcmp(name, "near_zero") == 0;
    FILE *stream = open_data("pairs.csv");
    char line[256], word[32], throughput[64];
    struct ssreport_point point;
    while (fgets(line, sizeof line, stream)) {
        if (sscanf(line, "%31[^,],%d,%lf,%63s", word, &point.half, &point.load, throughput) != 4 ||
            strcmp(word, is_near_zero ? "known" : name) != 0 || (is_near_zero && point.half == 2))
            continue;
        point.throughput = strtod(throughput, NULL);
        assert_true(stairs.count < POINTS_MAX);
        stairs.points[stairs.count++] = point;
    }
    fclose(stream);
    for (size_t i = 0; is_near_zero && i < sizeof near_zero / sizeof *near_zero; i++)
        stairs.points[stairs.count++] = near_zero[i];
    return stairs;
}

static struct ssreport_interference find_interference(
    const struct staircase *stairs, double confidence) {
    struct ssreport_interference result;
    assert_int_equal(
        ssreport_interference_of(stairs->points, stairs->count, confidence, &result), 0);
    return result;
}

static void assert_figure(const char *what, double have, double want) {
    if (!(fabs(have - want) <= 1e-8 * fabs(want)))
        fail_msg("%s is %.12g, not %.12g", what, have, want);
}

static void interference_intervals_agree_with_fieller_script(void **state) {
    (void)state;
    char line[256], name[32], part[32];
    int compared = 0;
    FILE *stream = open_data("intervals.csv");
    assert_non_null(fgets(line, sizeof line, stream));
    while (fgets(line, sizeof line, stream)) {
        double low = NAN, high = NAN;
        assert_true(sscanf(line, "%31[^,],%31[^,],%lf,%lf", name, part, &low, &high) >= 2);
        struct staircase stairs = read_staircase(name);
        struct ssreport_interference result = find_interference(&stairs, 0.95);
        struct ssreport_interval have = strcmp(part, "metric") == 0  ? result.interval
                                        : strcmp(part, "first") == 0 ? result.half_intervals[0]
                                                                     : result.half_intervals[1];
        if (isnan(low)) {
            assert_true(have.low == -INFINITY && have.high == INFINITY);
        } else {
            assert_figure(name, have.low, low);
            assert_figure(name, have.high, high);
        }
        compared++;
    }
    fclose(stream);
    assert_int_equal(compared, 15);
}

static void missing_interval_bound_is_explained(void **state) {
    (void)state;
    struct staircase stairs = read_staircase("known");
    struct ssreport_interference result = find_interference(&stairs, 0.95);
    assert_null(ssreport_interference_missing(&result));
    stairs = read_staircase("near_zero");
    result = find_interference(&stairs, 0.95);
    assert_true(isfinite(result.metric));
    assert_non_null(
        strstr(ssreport_interference_missing(&result), "no interval: an intercept is not"));
    stairs = read_staircase("one_half");
    result = find_interference(&stairs, 0.95);
    assert_true(isnan(result.metric) && isnan(result.interval.low) && isnan(result.interval.high));
    assert_string_equal(ssreport_interference_missing(&result), "no fit through the second half");
    assert_true(isfinite(result.half_intervals[0].low) && isnan(result.half_intervals[1].low));
    /* The foreground does nothing. */
    for (size_t i = 0; i < stairs.count; i++)
        stairs.points[i].throughput = 0;
    result = find_interference(&stairs, 0.95);
    assert_non_null(strstr(ssreport_interference_missing(&result), "no throughput"));
}

static void higher_confidence_widens_the_interval(void **state) {
    (void)state;
    struct staircase stairs = read_staircase("known");
    struct ssreport_interference usual = find_interference(&stairs, 0.95);
    struct ssreport_interference strict = find_interference(&stairs, 0.99);
    assert_true(strict.metric == usual.metric);
    assert_true(strict.interval.low < usual.interval.low);
    assert_true(strict.interval.high > usual.interval.high);
}

static void interval_without_scatter_has_no_width(void **state) {
    (void)state;
    struct staircase stairs = {0};
    for (int i = 0; i < 8; i++)
        stairs.points[stairs.count++] =
            (struct ssreport_point){0.125 * i, 8 - 0.5 * i, i % 2 ? 1 : 2};
    struct ssreport_interference result = find_interference(&stairs, 0.95);
    assert_figure("metric", result.metric, 50);
    assert_figure("low", result.interval.low, 50);
    assert_figure("high", result.interval.high, 50);
}

/*
 * Returns a uniform number in (0, 1). Does not use the C library's generator, so results are the
 * same everywhere.
 */
static double draw(uint64_t *seed) {
    uint64_t z = (*seed += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

static double draw_normal(uint64_t *seed) {
    double radius = sqrt(-2 * log(draw(seed)));
    return radius * cos(2 * M_PI * draw(seed));
}

/* A family of staircases with a known metric. */
struct made {
    int levels;
    double least, most; /* loads */
    double lost;        /* percent, in both halves */
    double noise[2];    /* of throughputs around 100, of each half */
    int missing;        /* number of levels absent from the second half */
};

static double cover(const struct made *made) {
    enum { SETS = 2000 };
    uint64_t seed = 20261122;
    int covered = 0;
    for (int i = 0; i < SETS; i++) {
        struct staircase stairs = {0};
        for (int j = 0; j < 2 * made->levels - made->missing; j++) {
            int half = j < made->levels ? 1 : 2;
            double load =
                made->least + (made->most - made->least) * (j % made->levels) / (made->levels - 1);
            stairs.points[stairs.count++] = (struct ssreport_point){
                load, 100 - made->lost * load + made->noise[half - 1] * draw_normal(&seed), half};
        }
        struct ssreport_interference result = find_interference(&stairs, 0.95);
        covered += result.interval.low <= made->lost && made->lost <= result.interval.high;
    }
    return (double)covered / SETS;
}

static void intervals_cover_the_true_metric_in_95_percent_of_cases(void **state) {
    (void)state;
    static const struct made kinds[] = {
        {19, 0.05, 0.95, 45, {2, 2}, 0},   /* as published */
        {19, 0.05, 0.95, 0, {1, 1}, 0},    /* nothing shared */
        {9, 0.05, 0.45, 100, {4, 4}, 0},   /* one CPU shared by two */
        {19, 0.05, 0.95, 30, {1, 6}, 0},   /* one half is noisier */
        {10, 0.10, 0.90, -20, {8, 8}, 4},  /* few steps */
        {19, 0.05, 0.95, 60, {15, 15}, 0}, /* much noise */
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double part = cover(&kinds[i]);
        if (!(part >= 0.92 && part <= 0.98))
            fail_msg("kind %zu: %.2f %% of the intervals contain the true value", i, 100 * part);
    }
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(interference_intervals_agree_with_fieller_script),
    cmocka_unit_test(missing_interval_bound_is_explained),
    cmocka_unit_test(higher_confidence_widens_the_interval),
    cmocka_unit_test(interval_without_scatter_has_no_width),
    cmocka_unit_test(intervals_cover_the_true_metric_in_95_percent_of_cases))
