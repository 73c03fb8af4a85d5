/* SPDX-License-Identifier: Apache-2.0 */

#include <math.h>

#include "curve.h"
#include "unit.h"

#define POINTS 20

/* Returns a reproducible deviation without a trend. */
static double scatter(size_t i) {
    return (double)(i * 7919 % 13) / 6 - 1;
}

static void curve_through_collinear_points_is_a_straight_line(void **state) {
    (void)state;
    double x[POINTS], y[POINTS];
    struct ssreport_curve curve;
    for (size_t i = 0; i < POINTS; i++) {
        x[POINTS - 1 - i] = 0.05 * (double)i;
        y[POINTS - 1 - i] = 3 - 0.1 * (double)i;
    }
    assert_int_equal(ssreport_curve_fit(&curve, x, y, POINTS), 0);
    assert_int_equal(curve.count, POINTS);
    assert_true(isinf(curve.bandwidth));
    struct ssreport_band band = ssreport_curve_at(&curve, 0.33, 0.95);
    assert_near(band.y, 3 - 2 * 0.33, 1e-9);
    assert_near(band.low, band.y, 1e-9);
    ssreport_curve_free(&curve);
}

static void curve_of_infinite_bandwidth_is_the_least_squares_line(void **state) {
    (void)state;
    double x[POINTS], y[POINTS];
    struct ssreport_curve curve;
    for (size_t i = 0; i < POINTS; i++) {
        x[i] = 0.05 * (double)i;
        y[i] = 3 + x[i] + 0.1 * (i % 2 ? 1 : -1);
    }
    assert_int_equal(ssreport_curve_fit(&curve, x, y, POINTS), 0);
    struct ssreport_fit fit = ssreport_fit_line(x, y, POINTS);
    assert_true(isinf(curve.bandwidth));
    for (double at = 0; at < 0.95; at += 0.1) {
        struct ssreport_band local = ssreport_curve_at(&curve, at, 0.9);
        struct ssreport_band line = ssreport_fit_at(&fit, at, 0.9);
        assert_near(local.y, line.y, 1e-9);
        assert_near(local.low, line.low, 1e-6);
        assert_near(local.high, line.high, 1e-6);
    }
    ssreport_curve_free(&curve);
}

/* At a bend a straight line misses the points, and the curve must not. */
static void curve_follows_a_bend(void **state) {
    (void)state;
    double x[2 * POINTS], y[2 * POINTS];
    struct ssreport_curve curve;
    for (size_t i = 0; i < 2 * POINTS; i++) {
        /* Each level twice, as on a staircase. */
        x[i] = 0.05 * (double)(i / 2 + 1) - 0.0001 * (double)(i % 2);
        y[i] = 100 * fmin(x[i], 0.5) + 0.5 * scatter(i);
    }
    assert_int_equal(ssreport_curve_fit(&curve, x, y, 2 * POINTS), 0);
    assert_true(curve.bandwidth < 0.5);
    for (double at = 0.05; at < 0.96; at += 0.05) {
        struct ssreport_band band = ssreport_curve_at(&curve, at, 0.95);
        double most = fabs(at - 0.5) < 0.11 ? 4 : 1;
        assert_near(band.y, 100 * fmin(at, 0.5), most);
        assert_true(band.low < band.y && band.y < band.high && band.high - band.low < 4);
    }
    struct ssreport_fit fit = ssreport_fit_line(x, y, 2 * POINTS);
    assert_true(fabs(ssreport_fit_at(&fit, 0.5, 0.95).y - 50) > 8);
    ssreport_curve_free(&curve);
}

/*
 * Computed by hand for loads 0 to 4 and a bandwidth of 2. In the middle the weights are symmetric.
 */
static void curve_weights_match_values_computed_by_hand(void **state) {
    (void)state;
    double x[] = {0, 1, 2, 3, 4}, y[] = {0, 1, 4, 9, 16}, weights[5];
    struct ssreport_curve curve = {
        .count = 5, .x = x, .y = y, .bandwidth = 2, .least = 0, .most = 4};
    ssreport_curve_weigh(&curve, 2, weights);
    double beside = pow(1 - 0.125, 3), all = 1 + 2 * beside;
    assert_near(weights[0], 0, 1e-15);
    assert_near(weights[1], beside / all, 1e-12);
    assert_near(weights[2], 1 / all, 1e-12);
    assert_near(weights[3], beside / all, 1e-12);
    /* At the end, two points remain, and the curve is the line through them. */
    ssreport_curve_weigh(&curve, 0, weights);
    assert_near(weights[0], 1, 1e-12);
    assert_near(weights[1], 0, 1e-12);
    ssreport_curve_weigh(&curve, 0.5, weights);
    assert_near(weights[0] + weights[1] + weights[2], 1, 1e-12);
    assert_near(weights[1] + 2 * weights[2], 0.5, 1e-12);
}

/* About 95 % of the bands around 400 random sets of points must contain the true value. */
static void confidence_bands_cover_the_true_curve(void **state) {
    (void)state;
    uint64_t seed = 1;
    int held = 0, all = 0;
    for (int set = 0; set < 400; set++) {
        double x[POINTS], y[POINTS];
        struct ssreport_curve curve;
        for (size_t i = 0; i < POINTS; i++) {
            double noise = 0;
            for (int j = 0; j < 12; j++) {
                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                noise += (double)(seed >> 11) / 9007199254740992.0;
            }
            x[i] = 0.05 * (double)i;
            y[i] = 10 + 5 * x[i] + noise - 6;
        }
        assert_int_equal(ssreport_curve_fit(&curve, x, y, POINTS), 0);
        for (double at = 0.1; at < 0.95; at += 0.2) {
            struct ssreport_band band = ssreport_curve_at(&curve, at, 0.95);
            held += band.low <= 10 + 5 * at && 10 + 5 * at <= band.high;
            all++;
        }
        ssreport_curve_free(&curve);
    }
    assert_true((double)held / all > 0.9 && (double)held / all < 0.98);
}

static void curve_is_undefined_outside_of_the_range_of_points(void **state) {
    (void)state;
    double x[] = {0.2, 0.3, 0.4, 0.5, 0.6}, y[] = {1, 2, 3, 4, 5}, same[] = {1, 1, 1, 1, 1};
    struct ssreport_curve curve;
    assert_int_equal(ssreport_curve_fit(&curve, x, y, 5), 0);
    assert_true(isnan(ssreport_curve_at(&curve, 0.19, 0.95).y));
    assert_true(isnan(ssreport_curve_at(&curve, 0.61, 0.95).y));
    assert_near(ssreport_curve_at(&curve, 0.6, 0.95).y, 5, 1e-9);
    ssreport_curve_free(&curve);
    assert_int_equal(ssreport_curve_fit(&curve, x, y, 4), 0);
    assert_int_equal(curve.count, 0);
    assert_true(isnan(ssreport_curve_at(&curve, 0.3, 0.95).y));
    ssreport_curve_free(&curve);
    assert_int_equal(ssreport_curve_fit(&curve, same, y, 5), 0);
    assert_int_equal(curve.count, 0);
    ssreport_curve_free(&curve);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(curve_through_collinear_points_is_a_straight_line),
    cmocka_unit_test(curve_of_infinite_bandwidth_is_the_least_squares_line),
    cmocka_unit_test(curve_follows_a_bend),
    cmocka_unit_test(curve_weights_match_values_computed_by_hand),
    cmocka_unit_test(confidence_bands_cover_the_true_curve),
    cmocka_unit_test(curve_is_undefined_outside_of_the_range_of_points))
