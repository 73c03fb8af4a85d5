/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "run.h"
#include "steps.h"
#include "unit.h"

#define SAMPLES_MAX 4000

static const struct ssreport_settings by_default = {
    .edge = SSREPORT_EDGE_DEFAULT, .interval = 6, .confidence = 0.95};

struct made {
    struct ssreport_record record;
    struct ssreport_sample samples[SAMPLES_MAX];
    struct ssreport_iteration iterations[SAMPLES_MAX];
};

static struct made *make(void) {
    static struct made made;
    made = (struct made){0};
    made.record.samples = made.samples;
    made.record.iterations = made.iterations;
    return &made;
}

/* Adds `seconds` at a target (NaN means free) with a load `error` below it. */
static void hold(struct made *made, double target, double seconds, double error) {
    size_t count = (size_t)lround(seconds / 0.5);
    for (size_t i = 0; i < count; i++) {
        double begin = ssreport_record_end(&made->record);
        assert_true(made->record.sample_count < SAMPLES_MAX);
        made->samples[made->record.sample_count++] = (struct ssreport_sample){.begin = begin,
            .end = begin + 0.5,
            .target = target,
            .load = isnan(target) ? 0.9 : target - error,
            .counted = !isnan(target)};
    }
}

static void iterate(struct made *made, double start, double end) {
    made->record.has_iterations = true;
    made->iterations[made->record.iteration_count++] = (struct ssreport_iteration){start, end};
}

static struct ssreport_steps find(const struct made *made, double edge) {
    struct ssreport_settings settings = by_default;
    struct ssreport_steps steps;
    settings.edge = edge;
    assert_int_equal(ssreport_steps_find(&steps, &made->record, &settings), 0);
    return steps;
}

static void constant_load_is_a_single_step(void **state) {
    (void)state;
    struct made *made = make();
    hold(made, 0.5, 60, 0.01);
    struct ssreport_steps steps = find(made, SSREPORT_EDGE_DEFAULT);
    assert_int_equal(steps.count, 1);
    assert_near(steps.items[0].begin, 0, 1e-9);
    assert_near(steps.items[0].end, 60, 1e-9);
    assert_near(steps.items[0].from, 10, 1e-9);
    assert_near(steps.items[0].to, 50, 1e-9);
    assert_int_equal(steps.items[0].load.count, 80);
    assert_near(steps.items[0].load.mean, 0.49, 1e-9);
    assert_near(steps.items[0].error_mean_percent, 1, 1e-9);
    assert_near(steps.items[0].error_mse_e4, 1, 1e-9);
    assert_int_equal(steps.items[0].half, 0);
    assert_true(isnan(steps.items[0].throughput));
    ssreport_steps_free(&steps);
}

/* A load of 1 within the edges must not affect the step. */
static void step_edges_are_excluded(void **state) {
    (void)state;
    const struct {
        double length, edge, from, to;
    } cases[] = {
        {600, SSREPORT_EDGE_DEFAULT, 30, 570}, {180, SSREPORT_EDGE_DEFAULT, 30, 150},
        {90, SSREPORT_EDGE_DEFAULT, 15, 75}, {6, SSREPORT_EDGE_DEFAULT, 1, 5}, {60, 0, 0, 60},
        {60, 20, 20, 40}, {60, 20.01, 20, 40}, /* rounding error of an edge */
        {60, 20.2, 20.5, 39.5},                /* only complete samples */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made *made = make();
        hold(made, 0.4, cases[i].length, 0);
        for (size_t j = 0; j < made->record.sample_count; j++) {
            if (made->samples[j].begin < cases[i].from || made->samples[j].end > cases[i].to)
                made->samples[j].load = 1;
        }
        struct ssreport_steps steps = find(made, cases[i].edge);
        assert_int_equal(steps.count, 1);
        assert_near(steps.items[0].from, cases[i].from, 1e-9);
        assert_near(steps.items[0].to, cases[i].to, 1e-9);
        assert_near(steps.items[0].load.mean, 0.4, 1e-9);
        ssreport_steps_free(&steps);
    }
}

static void loads_held_too_briefly_are_not_steps(void **state) {
    (void)state;
    struct made *made = make();
    hold(made, 0.5, 60, 0);
    for (int i = 1; i < 40; i++) /* a ramp */
        hold(made, 0.5 + i * 0.01, 0.5, 0);
    hold(made, 0.9, 60, 0);
    struct ssreport_steps steps = find(made, SSREPORT_EDGE_DEFAULT);
    assert_int_equal(steps.count, 2);
    assert_int_equal(steps.too_short, 39);
    assert_near(steps.items[1].target, 0.9, 1e-9);
    ssreport_steps_free(&steps);
    steps = find(made, 29.5);
    assert_int_equal(steps.count, 2);
    assert_int_equal(steps.items[0].load.count, 2);
    ssreport_steps_free(&steps);
    steps = find(made, 30);
    assert_int_equal(steps.count, 0); /* no sample is left */
    ssreport_steps_free(&steps);
    steps = find(made, 0); /* a single sample is not a step, even without edges */
    assert_int_equal(steps.count, 2);
    ssreport_steps_free(&steps);
}

static void free_sections_separate_steps(void **state) {
    (void)state;
    struct made *made = make();
    hold(made, 0.5, 30, 0);
    hold(made, NAN, 30, 0);
    hold(made, 0.5, 30, 0);
    struct ssreport_steps steps = find(made, 0);
    assert_int_equal(steps.count, 2);
    assert_near(steps.items[0].end, 30, 1e-9);
    assert_near(steps.items[1].begin, 60, 1e-9);
    assert_near(steps.items[1].load.mean, 0.5, 1e-9);
    ssreport_steps_free(&steps);
}

/* Adds a staircase from `levels` down to 1 and back; the lowest level comes twice. */
static void hold_staircase(struct made *made, int levels, double seconds) {
    for (int i = levels; i > 0; i--)
        hold(made, 0.1 * i, seconds, 0);
    for (int i = 1; i <= levels; i++)
        hold(made, 0.1 * i, seconds, 0);
}

static void staircase_is_split_into_two_halves(void **state) {
    (void)state;
    struct made *made = make();
    hold_staircase(made, 5, 24);
    struct ssreport_steps steps = find(made, SSREPORT_EDGE_DEFAULT);
    assert_int_equal(steps.count, 10);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(steps.items[i].half, i < 5 ? 1 : 2);
        assert_near(steps.items[i].from, 24.0 * (double)i + 4, 1e-9);
        assert_near(steps.items[i].to, 24.0 * (double)i + 20, 1e-9);
        assert_near(steps.items[i].load.mean, 0.1 * (i < 5 ? 5 - (double)i : (double)i - 4), 1e-9);
    }
    ssreport_steps_free(&steps);
}

/* Must hold even without edges. */
static void samples_belong_to_exactly_one_step(void **state) {
    (void)state;
    struct made *made = make();
    hold(made, 0.5, 10, 0.01);
    hold(made, 0.8, 10, 0.02);
    struct ssreport_steps steps = find(made, 0);
    assert_int_equal(steps.items[0].load.count, 20);
    assert_int_equal(steps.items[1].load.count, 20);
    assert_near(steps.items[0].error_mean_percent, 1, 1e-9);
    assert_near(steps.items[1].error_mean_percent, 2, 1e-9);
    assert_near(steps.items[1].from, 10, 1e-9);
    ssreport_steps_free(&steps);
}

static void irregular_staircases_are_split_into_halves_if_possible(void **state) {
    (void)state;
    const struct {
        double targets[6];
        int halves[6];
    } cases[] = {
        {{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, {1, 1, 1, 1, 1, 1}}, /* one half is absent */
        {{0.1, 0.2, 0.5, 0.4, 0.3, 0.2}, {1, 1, 1, 2, 2, 2}}, /* the top is held once */
        {{0.1, 0.6, 0.1, 0.9, 0.4, 0.9}, {0, 0, 0, 0, 0, 0}}, /* a saw */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made *made = make();
        for (size_t j = 0; j < 6; j++)
            hold(made, cases[i].targets[j], 10, 0);
        struct ssreport_steps steps = find(made, SSREPORT_EDGE_DEFAULT);
        assert_int_equal(steps.count, 6);
        for (size_t j = 0; j < 6; j++)
            assert_int_equal(steps.items[j].half, cases[i].halves[j]);
        ssreport_steps_free(&steps);
    }
}

static void step_throughput_excludes_edges(void **state) {
    (void)state;
    struct made *made = make();
    hold(made, 0.5, 60, 0);
    hold(made, 0.8, 60, 0);
    for (int i = 0; i < 24; i++) /* every 5 s, across all edges */
        iterate(made, 5 * i - 1, 5 * i + 4);
    iterate(made, 75, 76); /* one more in the second */
    iterate(made, 61, 62); /* and one in its edge */
    struct ssreport_steps steps = find(made, 12);
    assert_near(steps.items[0].throughput, 0.2, 1e-9);
    assert_near(steps.items[1].throughput, 0.2 + 1 / 36.0, 1e-9);
    /* Six complete intervals of 6 s. */
    assert_int_equal(steps.items[0].rates.count, 6);
    assert_near(steps.items[0].rates.mean, 0.2, 1e-9);
    assert_near(steps.items[0].rates.deviation, 0, 1e-9);
    assert_true(steps.items[1].rates.low < steps.items[1].rates.mean);
    ssreport_steps_free(&steps);
}

/* Without its edges, a step of 60 s is shorter than an iteration of 50 s. */
static void iterations_longer_than_a_step_are_detected(void **state) {
    (void)state;
    struct made *made = make();
    hold(made, 0.5, 60, 0);
    hold(made, 0.8, 60, 0);
    for (int i = 0; i < 6; i++)
        iterate(made, 10 * i, 10 * (i + 1));
    iterate(made, 60, 110);
    iterate(made, 110, 160);
    struct ssreport_steps steps = find(made, 12);
    assert_false(steps.items[0].is_exceeded);
    assert_true(steps.items[1].is_exceeded);
    ssreport_steps_free(&steps);
}

/* If iterations are counted and none completed, only an upper bound is known. */
static void zero_iterations_give_a_bound_only_if_counted(void **state) {
    (void)state;
    struct made *made = make();
    hold(made, 0.5, 60, 0);
    assert_true(isnan(ssreport_steps_throughput(&made->record, 0, 60)));
    assert_true(isnan(ssreport_steps_bound(&made->record, 0, 60)));
    made->record.has_iterations = true;
    made->record.instance_count = 3;
    assert_true(isnan(ssreport_steps_throughput(&made->record, 0, 60)));
    assert_near(ssreport_steps_bound(&made->record, 0, 60), 3 / 60.0, 1e-9);
    assert_true(isnan(ssreport_steps_throughput(&made->record, 60, 60)));
    assert_true(isnan(ssreport_steps_bound(&made->record, 60, 60)));
}

#define WEEK 604800 /* seconds */

/*
 * Makes a week with iterations of a second and targets that change every 10 s. If all samples or
 * iterations were examined for each step or interval, the following tests would take many minutes.
 */
static struct ssreport_record make_week(void) {
    struct ssreport_record record = {.sample_count = 2 * WEEK,
        .samples = calloc(2 * WEEK, sizeof *record.samples),
        .iteration_count = WEEK,
        .iterations = calloc(WEEK, sizeof *record.iterations),
        .has_iterations = true};
    assert_non_null(record.samples);
    assert_non_null(record.iterations);
    for (size_t i = 0; i < record.sample_count; i++) {
        double target = i / 20 % 2 ? 0.6 : 0.3, begin = (double)i / 2;
        record.samples[i] = (struct ssreport_sample){.begin = begin,
            .end = begin + 0.5,
            .target = target,
            .load = target,
            .duty = NAN,
            .counted = true};
    }
    for (size_t i = 0; i < record.iteration_count; i++)
        record.iterations[i] = (struct ssreport_iteration){(double)i, (double)i + 1, NAN};
    return record;
}

static void free_week(struct ssreport_record *record) {
    free(record->samples);
    free(record->iterations);
}

static void steps_of_long_runs_are_found_in_one_pass(void **state) {
    (void)state;
    struct ssreport_record record = make_week();
    struct ssreport_steps steps;
    assert_int_equal(ssreport_steps_find(&steps, &record, &by_default), 0);
    assert_int_equal(steps.count, WEEK / 10);
    assert_near(steps.items[steps.count - 1].target, 0.6, 1e-9);
    assert_near(steps.items[steps.count - 1].throughput, 1, 1e-9);
    assert_near(steps.items[steps.count - 1].rates.mean, 1, 1e-9);
    ssreport_steps_free(&steps);
    free_week(&record);
}

static void intervals_of_long_runs_are_fitted_in_one_pass(void **state) {
    (void)state;
    struct ssreport_run run = {.record = make_week()};
    assert_int_equal(ssreport_steps_rates(&run.rates, &run.record, 0, WEEK, 6), 0);
    assert_int_equal(ssreport_run_fit(&run), 0);
    assert_int_equal(run.fit.count, WEEK / 6);
    assert_int_equal(run.exceeded, 0);
    assert_near(run.least_load, 0.3, 1e-9);
    assert_near(run.most_load, 0.6, 1e-9);
    /* 4 s at one load and 2 s at the other */
    assert_near(ssreport_run_means(&run.record, 6, 12).load, 0.4, 1e-9);
    assert_true(isnan(ssreport_run_means(&run.record, WEEK, WEEK + 6).load));
    ssreport_rates_close(&run.rates);
    free(run.loads);
    free_week(&run.record);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(constant_load_is_a_single_step),
    cmocka_unit_test(step_edges_are_excluded),
    cmocka_unit_test(loads_held_too_briefly_are_not_steps),
    cmocka_unit_test(free_sections_separate_steps),
    cmocka_unit_test(staircase_is_split_into_two_halves),
    cmocka_unit_test(samples_belong_to_exactly_one_step),
    cmocka_unit_test(irregular_staircases_are_split_into_halves_if_possible),
    cmocka_unit_test(step_throughput_excludes_edges),
    cmocka_unit_test(iterations_longer_than_a_step_are_detected),
    cmocka_unit_test(zero_iterations_give_a_bound_only_if_counted),
    cmocka_unit_test(steps_of_long_runs_are_found_in_one_pass),
    cmocka_unit_test(intervals_of_long_runs_are_fitted_in_one_pass))
