/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of means that are examined after every value. */

#include <stdlib.h>

#include <showstopper/random.h>

#include "sequential.h"
#include "statistics.h"
#include "unit.h"

#define STUDIES 400
#define PLANNED 65

static const double ten[] = {0.03, -0.01, 0.02, 0.04, 0, 0.01, 0.03, -0.02, 0.05, 0.01};

static void block_difference_is_the_mean_of_logarithms(void **state) {
    (void)state;
    assert_near(stats_block_difference((double[]){100, 400}, (double[]){200, 200}), 0, 1e-15);
    assert_near(stats_block_difference((double[]){100, 100}, (double[]){110, 99}),
        (log(1.1) + log(0.99)) / 2, 1e-15);
    assert_near(stats_percent_of(log(0.98)), -2, 1e-12);
}

/* The second process is 2 % faster, and each turn is 1 % slower than the one before. */
static void drift_cancels_from_differences_of_turns(void **state) {
    (void)state;
    double figures[12], differences[4];
    for (int i = 0; i < 12; i++)
        figures[i] = 100 * exp(0.02 * (i % 2) - 0.01 * i);
    assert_int_equal(stats_turn_differences(figures, 12, differences), 4);
    for (int i = 0; i < 4; i++)
        assert_near(differences[i], 0.02, 1e-12);
}

static void turns_without_a_figure_are_left_out(void **state) {
    (void)state;
    double figures[] = {100, 110, 100, 110, NAN, 110, 0, 110, 100, 110, 100, 110, 100, 100};
    double differences[4];
    assert_int_equal(stats_turn_differences(figures, 14, differences), 2);
    assert_near(differences[0], log(1.1), 1e-12);
    assert_near(differences[1], log(1.1), 1e-12);
    assert_int_equal(stats_turn_differences(figures, 2, differences), 0);
}

/* R: mean(x), sd(x), qt(.9875, 9) * sd(x) * sqrt(65) / 10 */
static void bounded_interval_agrees_with_r(void **state) {
    (void)state;
    struct stats_look look = stats_look_at(ten, NULL, 10, PLANNED);
    assert_near(look.mean, 0.016, 1e-15);
    assert_near(look.deviation, 0.02221110833194358, 1e-15);
    assert_near(look.half, 0.04808094038222142, 1e-14);
}

/*
 * At the end the interval is nearly as narrow as for a single look at 97.5 %: 2.3 errors instead of
 * 2.
 */
static void interval_narrows_until_the_planned_end(void **state) {
    (void)state;
    double values[PLANNED], last = INFINITY;
    for (size_t i = 0; i < PLANNED; i++)
        values[i] = ten[i % 10];
    for (size_t n = 10; n <= PLANNED; n += 5) {
        double half = stats_look_at(values, NULL, n, PLANNED).half;
        assert_that(half, <, last);
        last = half;
    }
    assert_near(
        last, 2.295 * stats_look_at(values, NULL, PLANNED, PLANNED).deviation / sqrt(65), 1e-4);
}

static void unbounded_interval_uses_the_normal_mixture(void **state) {
    (void)state;
    struct stats_look look = stats_look_at(ten, NULL, 10, 0);
    assert_near(look.half, look.deviation / 10 * sqrt(22 * (6 + log(22. / 12))), 1e-15);
}

static void fewer_than_ten_values_have_no_interval(void **state) {
    (void)state;
    assert_true(isinf(stats_look_at(ten, NULL, 9, PLANNED).half));
    assert_true(isfinite(stats_look_at(ten, NULL, 9, PLANNED).mean));
    assert_true(isnan(stats_look_at(ten, NULL, 0, PLANNED).mean));
    assert_true(isnan(stats_look_at(ten, NULL, 1, PLANNED).deviation));
}

static const enum stats_order alternating[10] = {STATS_ABBA, STATS_BAAB, STATS_ABBA, STATS_BAAB,
    STATS_ABBA, STATS_BAAB, STATS_ABBA, STATS_BAAB, STATS_ABBA, STATS_BAAB};

/* If the first run is 10 % slow, one order gains what the other loses. */
static void effect_of_the_position_in_a_block_cancels(void **state) {
    (void)state;
    double shifted[10];
    for (size_t i = 0; i < 10; i++)
        shifted[i] = ten[i] + (alternating[i] == STATS_ABBA ? 0.05 : -0.05);
    struct stats_look plain = stats_look_at(ten, alternating, 10, PLANNED);
    struct stats_look look = stats_look_at(shifted, alternating, 10, PLANNED);
    assert_near(look.mean, plain.mean, 1e-15);
    assert_near(look.half, plain.half, 1e-15);
    assert_that(stats_look_at(shifted, NULL, 10, PLANNED).half, >, 2 * look.half);
}

/*
 * R: the intercept of lm(x ~ c(1, -1)[order]), its error times sqrt(10), and qt(.9875, 8) times it.
 */
static void unequal_numbers_of_orders_agree_with_r(void **state) {
    (void)state;
    const enum stats_order orders[10] = {STATS_BAAB, STATS_BAAB, STATS_BAAB};
    struct stats_look look = stats_look_at(ten, orders, 10, PLANNED);
    assert_near(look.mean, 0.01523809523809524, 1e-15);
    assert_near(look.deviation, 0.02561599379922621, 1e-15);
    assert_near(look.half, 0.05682522045829259, 1e-14);
}

static void a_single_order_has_no_interval(void **state) {
    (void)state;
    const enum stats_order orders[10] = {STATS_ABBA};
    assert_true(isinf(stats_look_at(ten, orders, 10, PLANNED).half));
}

/* Student's t at every look exceeds the error rate of 5 %; the interval for many looks does not. */
static void sequential_interval_meets_the_error_rate_that_repeated_t_tests_exceed(void **state) {
    (void)state;
    uint64_t random = 1;
    double values[PLANNED];
    enum stats_order orders[PLANNED];
    int alarms = 0, naive = 0, endless = 0;
    for (int study = 0; study < STUDIES; study++) {
        bool alarm = false, by_t = false, mixture = false;
        for (size_t n = 1; n <= PLANNED; n++) {
            double radius = sqrt(2 * ss_random_exponential(ss_random_next(&random)));
            values[n - 1] = 0.02 * radius * cos(2 * M_PI * ss_random_next(&random));
            orders[n - 1] = n % 2 ? STATS_ABBA : STATS_BAAB;
            struct stats_look look = stats_look_at(values, orders, n, PLANNED);
            alarm |= fabs(look.mean) > look.half;
            mixture |= fabs(look.mean) > stats_look_at(values, orders, n, 0).half;
            struct ssreport_interval t = ssreport_mean_interval(look.mean,
                (struct ssreport_sureness){look.deviation / sqrt((double)n), (double)n - 2}, 0.95);
            by_t |= n >= STATS_LOOK_MIN && (t.low > 0 || t.high < 0);
        }
        alarms += alarm;
        naive += by_t;
        endless += mixture;
    }
    assert_that(alarms, <=, STUDIES * 7 / 100); /* 5 % and two standard errors */
    assert_that(endless, <=, STUDIES * 7 / 100);
    assert_that(naive, >=, STUDIES * 20 / 100);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(block_difference_is_the_mean_of_logarithms),
    cmocka_unit_test(drift_cancels_from_differences_of_turns),
    cmocka_unit_test(turns_without_a_figure_are_left_out),
    cmocka_unit_test(bounded_interval_agrees_with_r),
    cmocka_unit_test(interval_narrows_until_the_planned_end),
    cmocka_unit_test(unbounded_interval_uses_the_normal_mixture),
    cmocka_unit_test(fewer_than_ten_values_have_no_interval),
    cmocka_unit_test(effect_of_the_position_in_a_block_cancels),
    cmocka_unit_test(unequal_numbers_of_orders_agree_with_r),
    cmocka_unit_test(a_single_order_has_no_interval),
    cmocka_unit_test(sequential_interval_meets_the_error_rate_that_repeated_t_tests_exceed))
