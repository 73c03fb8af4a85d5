/* SPDX-License-Identifier: Apache-2.0 */

#include "loadline.h"
#include "power.h"
#include "unit.h"

#define LEVELS 4

/* Student's t at 97.5 % with two and four degrees of freedom. */
#define T2 4.302653
#define T4 2.776445

struct ladder {
    struct loadline_visit visits[64];
    size_t count;
};

/* Adds a visit whose throughput is 100 L exp(log). */
static void visit(
    struct ladder *ladder, double load, double log, int round, enum loadline_way way) {
    ladder->visits[ladder->count++] = (struct loadline_visit){.target = load,
        .load = load,
        .throughput = 100 * load * exp(log),
        .watts = 100 + 100 * load,
        .round = round,
        .way = way};
}

/* Adds a round of four levels with these differences between their rising and falling visits. */
static void climb(struct ladder *ladder, const double differences[LEVELS], int round) {
    for (int i = 0; i < LEVELS; i++) {
        visit(ladder, 0.25 * (i + 1), differences[i] / 2, round, LOADLINE_UP);
        visit(ladder, 0.25 * (i + 1), -differences[i] / 2, round, LOADLINE_DOWN);
    }
}

static struct loadline line_of(const struct ladder *ladder) {
    struct loadline line;
    const char *failure = loadline_of(&line, ladder->visits, ladder->count);
    if (failure)
        fail_msg("%s", failure);
    return line;
}

/* Hysteresis 0.01, plus 0.02, -0.02, -0.02, 0.02, which have no slope. */
static const double zigzag[LEVELS] = {0.03, -0.01, -0.01, 0.03};

static void error_follows_from_differences_between_rising_and_falling_steps(void **state) {
    (void)state;
    struct ladder ladder = {0};
    climb(&ladder, zigzag, 1);
    struct loadline line = line_of(&ladder);
    assert_near(line.hysteresis, 0.01, 1e-12);
    assert_near(line.error.error, sqrt(4 * 0.0004 / (2 * 2)), 1e-12);
    assert_near(line.error.freedom, 2, 0);
    struct ssreport_band done = loadline_done(&line, 0.5, 0.95);
    assert_near(done.y, 0.5, 1e-12);
    assert_near(log(done.high / done.y), T2 * 0.02, 1e-6);
    assert_near(log(done.y / done.low), T2 * 0.02, 1e-6);
}

static void second_round_halves_the_variance_of_the_error(void **state) {
    (void)state;
    struct ladder ladder = {0};
    climb(&ladder, zigzag, 1);
    climb(&ladder, zigzag, 2);
    struct loadline line = line_of(&ladder);
    assert_int_equal(line.rounds, 2);
    assert_near(line.error.freedom, 4, 0);
    assert_near(line.error.error, 0.02 / M_SQRT2, 1e-12);
    struct ssreport_band done = loadline_done(&line, 0.5, 0.95);
    assert_near(log(done.high / done.y), T4 * 0.02 / M_SQRT2, 1e-6);
}

/* Throughput, load and power are those of the same visits. */
static void first_of_repeated_visits_counts(void **state) {
    (void)state;
    struct ladder ladder = {0};
    climb(&ladder, zigzag, 1);
    struct loadline once = line_of(&ladder);
    size_t count = ladder.count;
    climb(&ladder, zigzag, 1);
    for (size_t i = count; i < ladder.count; i++) {
        ladder.visits[i].load /= 2;
        ladder.visits[i].watts *= 2;
        ladder.visits[i].throughput *= 3;
    }
    struct loadline line = line_of(&ladder);
    for (size_t i = 0; i < LEVELS; i++) {
        assert_int_equal(line.levels[i].visits, 2);
        assert_near(line.levels[i].load, once.levels[i].load, 1e-12);
        assert_near(line.levels[i].watts, once.levels[i].watts, 1e-9);
        assert_near(line.levels[i].log_mean, once.levels[i].log_mean, 1e-12);
    }
}

/* A machine that steadily slows down loses more at levels whose two visits are further apart. */
static void steady_drift_does_not_widen_the_interval(void **state) {
    (void)state;
    struct ladder ladder = {0};
    double drifting[LEVELS];
    for (int i = 0; i < LEVELS; i++)
        drifting[i] = zigzag[i] + 0.1 * (LEVELS - i);
    climb(&ladder, drifting, 1);
    struct loadline line = line_of(&ladder);
    assert_near(line.error.error, 0.02, 1e-12);
    assert_near(loadline_done(&line, 0.75, 0.95).y, 0.75, 1e-12);
}

static void throughput_is_attributed_to_the_observed_load(void **state) {
    (void)state;
    struct ladder ladder = {0};
    climb(&ladder, zigzag, 1);
    /*
     * Both visits at 50 % miss their target by different amounts, and do the work of their actual
     * loads.
     */
    ladder.visits[2].load *= 1.1;
    ladder.visits[2].throughput *= 1.1;
    ladder.visits[3].load *= 0.94;
    ladder.visits[3].throughput *= 0.94;
    struct loadline line = line_of(&ladder);
    assert_near(line.levels[1].load, 0.51, 1e-12);
    assert_near(line.error.error, 0.02, 1e-12);
    assert_near(loadline_done(&line, 0.51, 0.95).y, 0.51, 1e-12);
}

static void full_load_is_one_hundred_percent_without_error(void **state) {
    (void)state;
    struct ladder ladder = {0};
    climb(&ladder, zigzag, 1);
    struct loadline line = line_of(&ladder);
    struct ssreport_band done = loadline_done(&line, 1, 0.95);
    assert_near(done.low, 1, 1e-12);
    assert_near(done.high, 1, 1e-12);
    assert_near(loadline_throughput(&line, 1, 0.95).y, 100, 1e-9);
    assert_that(loadline_throughput(&line, 1, 0.95).low, <, 100);
}

/* Multiplies the throughput of both visits of a level by exp(log). */
static void set_level(struct ladder *ladder, int level, double log) {
    for (int i = 0; i < 2; i++)
        ladder->visits[2 * level + i].throughput *= exp(log);
}

static void maximum_below_full_load_must_be_three_errors_higher(void **state) {
    (void)state;
    struct ladder ladder = {0};
    climb(&ladder, zigzag, 1);
    /* T at 75 % exceeds T at 100 % by 2.9 errors of 0.02, then by 3.1. */
    set_level(&ladder, 2, log(4 / 3.0) + 2.9 * 0.02);
    struct loadline line = line_of(&ladder);
    assert_int_equal(line.full, 3);
    assert_false(line.is_capped);
    set_level(&ladder, 2, 0.2 * 0.02);
    line = line_of(&ladder);
    assert_int_equal(line.full, 2);
    assert_true(line.is_capped);
    assert_near(loadline_done(&line, 1, 0.95).y, exp(-3.1 * 0.02), 1e-9);
}

static const double quiet[LEVELS] = {1e-4, -1e-4, -1e-4, 1e-4};

/* Fits T = 100 L (1 - L / 2), on which the straight line from 50 to 75 % is 1 % too low. */
static void curve_between_levels_is_interpolated(void **state) {
    (void)state;
    struct ladder ladder = {0};
    climb(&ladder, quiet, 1);
    for (int i = 0; i < LEVELS; i++)
        set_level(&ladder, i, log(1 - 0.125 * (i + 1)));
    struct loadline line = line_of(&ladder);
    struct ssreport_band work = loadline_throughput(&line, 0.625, 0.95);
    assert_near(work.y, 62.5 * (1 - 0.3125), 1e-9);
    assert_that(log(work.high / work.low), <, 2 * T2 * 1e-4);
    assert_near(loadline_throughput(&line, 0.125, 0.95).y, 12.5 * (1 - 0.0625), 1e-9);
}

/* Above and below a knee at 60 % the line is straight. */
static void knee_between_levels_is_interpolated(void **state) {
    (void)state;
    struct ladder ladder = {0};
    climb(&ladder, quiet, 1);
    visit(&ladder, 0.125, 0, 1, LOADLINE_UP);
    visit(&ladder, 0.125, 0, 1, LOADLINE_DOWN);
    visit(&ladder, 0.875, 0, 1, LOADLINE_UP);
    visit(&ladder, 0.875, 0, 1, LOADLINE_DOWN);
    for (size_t i = 0; i < ladder.count; i++) {
        double load = ladder.visits[i].load;
        if (load > 0.6)
            ladder.visits[i].throughput *= (0.6 + (load - 0.6) / 2) / load;
    }
    struct loadline line = line_of(&ladder);
    double truth = 60 + 2.5 / 2;
    struct ssreport_band work = loadline_throughput(&line, 0.625, 0.95);
    assert_near(work.y / truth, 1, 2e-3);
    assert_that(work.low, <=, truth);
    assert_that(work.high, >=, truth);
    assert_that(work.high / work.low, <, 1.01);
    assert_near(loadline_throughput(&line, 0.4, 0.95).y / 40, 1, 1e-3);
}

static void loads_above_the_highest_level_have_no_answer(void **state) {
    (void)state;
    struct ladder ladder = {0};
    climb(&ladder, zigzag, 1);
    for (size_t i = 0; i < ladder.count; i++) {
        ladder.visits[i].load *= 0.6;
        ladder.visits[i].target *= 0.6;
    }
    struct loadline line = line_of(&ladder);
    assert_true(isnan(loadline_done(&line, 0.7, 0.95).y));
    assert_true(isnan(loadline_done(&line, 0, 0.95).y));
    assert_near(loadline_done(&line, 0.6, 0.95).y, 1, 1e-12);
    assert_near(loadline_done(&line, 0.075, 0.95).y, 0.125, 1e-12);
}

static void levels_visited_once_or_without_throughput_are_left_out(void **state) {
    (void)state;
    struct ladder ladder = {0};
    climb(&ladder, zigzag, 1);
    visit(&ladder, 0.05, 0, 1, LOADLINE_UP);
    visit(&ladder, 0.1, 0, 1, LOADLINE_UP);
    visit(&ladder, 0.1, 0, 1, LOADLINE_DOWN);
    ladder.visits[ladder.count - 1].throughput = 0;
    struct loadline line = line_of(&ladder);
    assert_int_equal(line.count, 4);
    assert_int_equal(line.left_out, 2);
    ladder.count = 6;
    assert_non_null(loadline_of(&line, ladder.visits, ladder.count));
}

/* A saturated service has the same load at all rates above its capacity. */
static void levels_with_equal_load_keep_separate_figures(void **state) {
    (void)state;
    struct ladder ladder = {0};
    struct loadline_bands bands;
    climb(&ladder, zigzag, 1);
    ladder.visits[4].load = ladder.visits[5].load = 1;
    ladder.visits[6].load = ladder.visits[7].load = 0.999;
    struct loadline line = line_of(&ladder);
    assert_near(line.levels[line.full].target, 1, 0);
    double throughputs[2];
    for (size_t i = 0; i < 2; i++) {
        loadline_bands_of_level(&line, 2 + i, 0.95, &bands);
        throughputs[i] = bands.throughput.y;
    }
    assert_near(fmin(throughputs[0], throughputs[1]), 75, 1e-9);
    assert_near(fmax(throughputs[0], throughputs[1]), 100, 1e-9);
}

static struct ladder with_idle(double watts) {
    struct ladder ladder = {0};
    climb(&ladder, zigzag, 1);
    visit(&ladder, 0, 0, 1, LOADLINE_UP);
    ladder.visits[ladder.count - 1].watts = watts;
    return ladder;
}

/*
 * With throughput 100 L and power 100 + 100 L, each part of the throughput needs the same part of
 * the load. Over 100 to 10 % and idle the sums are 550 operations and 1650 watts.
 */
static void power_is_interpolated_at_tenths_of_the_maximum(void **state) {
    (void)state;
    struct ladder ladder = with_idle(100);
    struct loadline line = line_of(&ladder);
    struct loadline_power power;
    assert_true(loadline_power_of(&power, &line));
    for (int i = 0; i < LOADLINE_PARTS; i++) {
        assert_near(power.parts[i].part, 1 - 0.1 * i, 1e-12);
        assert_near(power.parts[i].watts, 200 - 10 * i, 1e-9);
        assert_near(power.parts[i].per_joule, (100 - 10 * i) / (200.0 - 10 * i), 1e-9);
    }
    assert_near(power.per_joule, 550 / 1650.0, 1e-12);
}

/* The line is convex: half of the throughput needs more than half of the load, and its power. */
static void power_is_listed_by_fractions_of_the_throughput(void **state) {
    (void)state;
    struct ladder ladder = with_idle(100);
    set_level(&ladder, 1, log(0.6)); /* 30 instead of 50 */
    struct loadline line = line_of(&ladder);
    struct loadline_power power;
    assert_true(loadline_power_of(&power, &line));
    assert_near(power.parts[5].throughput, 50, 1e-9);
    assert_near(power.parts[5].watts, 150 + 25 * 20 / 45.0, 1e-9);
}

static void power_is_unknown_if_a_level_or_idle_has_no_power(void **state) {
    (void)state;
    struct ladder ladder = with_idle(NAN);
    struct loadline line = line_of(&ladder);
    struct loadline_power power;
    assert_false(loadline_power_of(&power, &line));
    ladder = with_idle(100);
    ladder.visits[3].watts = NAN;
    line = line_of(&ladder);
    assert_false(loadline_power_of(&power, &line));
}

UNIT_MAIN(cmocka_unit_test(error_follows_from_differences_between_rising_and_falling_steps),
    cmocka_unit_test(second_round_halves_the_variance_of_the_error),
    cmocka_unit_test(first_of_repeated_visits_counts),
    cmocka_unit_test(steady_drift_does_not_widen_the_interval),
    cmocka_unit_test(throughput_is_attributed_to_the_observed_load),
    cmocka_unit_test(full_load_is_one_hundred_percent_without_error),
    cmocka_unit_test(maximum_below_full_load_must_be_three_errors_higher),
    cmocka_unit_test(curve_between_levels_is_interpolated),
    cmocka_unit_test(knee_between_levels_is_interpolated),
    cmocka_unit_test(loads_above_the_highest_level_have_no_answer),
    cmocka_unit_test(levels_visited_once_or_without_throughput_are_left_out),
    cmocka_unit_test(levels_with_equal_load_keep_separate_figures),
    cmocka_unit_test(power_is_interpolated_at_tenths_of_the_maximum),
    cmocka_unit_test(power_is_listed_by_fractions_of_the_throughput),
    cmocka_unit_test(power_is_unknown_if_a_level_or_idle_has_no_power))
