/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "record/judge.h"
#include "unit.h"

static struct ss_plan plan;
static struct ss_outcome outcome;
static struct ss_monitor monitor;
static struct ss_outcome_input input;
static struct ss_iterations iterations;

/* A run of 240 s with 480 samples of 50 %, without faults. */
static int set_up(void **state) {
    plan = (struct ss_plan){.instances = 2, .duration = SS_TIME_NEVER};
    monitor = (struct ss_monitor){0};
    for (int i = 0; i < 480; i++)
        assert_true(ss_figures_add(&monitor.figures, 0.5, i % 2 ? 0.51 : 0.49));
    ss_outcome_open(&outcome);
    outcome.ended_by = "duration";
    outcome.error_mean_percent = 0;
    outcome.error_mse_e4 = 1;
    outcome.steal_mean = 0.001;
    outcome.switches_per_second = 40; /* 20 per instance: rounds of 100 ms */
    outcome.wake_p99_us = 1000;
    input = (struct ss_outcome_input){
        .plan = &plan, .monitor = &monitor, .instances_with_rounds = 2, .others = 0.004};
    iterations = (struct ss_iterations){.from = 0, .to = 240 * SS_SECOND};
    return 0;
}

static int tear_down(void **state) {
    ss_figures_free(&monitor.figures);
    ss_iterations_free(&iterations);
    ss_outcome_close(&outcome);
    return 0;
}

static double figure(enum ss_check_name check) {
    return outcome.evidence.figures[check];
}

/* Adds ten iterations a second, and `factor` times as many after `change` seconds. */
static void iterate(double change, double factor) {
    for (double at = 0; at < 240; at += 0.1 / (at < change ? 1 : factor))
        ss_iterations_add(
            &iterations, 0, (ss_time)(at * 1e9), (ss_time)(at * 1e9) + 50 * SS_MILLISECOND);
    ss_judge_iterations(&outcome, &iterations);
}

/* All three instances, then only instance 1, slow down by 40 % after 3/8 of the time. */
TEST_WITH(step_of_throughput_names_its_instance, set_up, tear_down) {
    for (unsigned whose = 0; whose <= 2; whose += 2) {
        iterations = (struct ss_iterations){.to = 240 * SS_SECOND};
        assert_int_equal(ss_iterations_keep_apart(&iterations, 3, 1), 0);
        for (uint32_t instance = 0; instance < 3; instance++) {
            for (double at = 0; at < 240;
                 at += 0.1 / (at >= 90 && (!whose || instance == 1) ? 0.6 : 1))
                ss_iterations_add(&iterations, instance, (ss_time)(at * 1e9),
                    (ss_time)(at * 1e9) + 50 * SS_MILLISECOND);
        }
        ss_judge_iterations(&outcome, &iterations);
        assert_that(outcome.evidence.throughput.shape, ==, SS_SHAPE_STEP);
        assert_that(outcome.evidence.throughput.instance_plus_1, ==, whose);
        ss_iterations_free(&iterations);
    }
    char text[SS_CHANGE_TEXT_SIZE];
    ss_stationarity_print(text, &outcome.evidence.throughput);
    assert_non_null(strstr(text, " % of the time, of instance 1"));
}

TEST_WITH(clean_run_is_valid, set_up, tear_down) {
    ss_judge_control(&outcome, &input);
    iterate(240, 1);
    ss_judge_run(&outcome, &plan);
    assert_string_equal(ss_verdict_word(&outcome.verdict), "valid");
    assert_near(figure(SS_CHECK_MEAN_ERROR), 0, 1e-9);
    assert_near(figure(SS_CHECK_MEAN_SQUARED_ERROR), 1, 1e-9);
    assert_near(figure(SS_CHECK_SAMPLES_OFF), 0, 1e-9);
    assert_near(figure(SS_CHECK_LATE_WAKE_UPS), 1, 1e-9);
    assert_near(figure(SS_CHECK_SAMPLES_LOST), 0, 1e-9);
    assert_near(figure(SS_CHECK_STEAL), 0.1, 1e-9);
    assert_near(figure(SS_CHECK_OTHERS), 0.4, 1e-9);
    assert_near(figure(SS_CHECK_THROUGHPUT), 0, 1e-9);
    assert_near(figure(SS_CHECK_SAMPLES), 480, 0);
}

TEST_WITH(samples_off_target_lost_and_late_are_counted, set_up, tear_down) {
    for (int i = 0; i < 120; i++)
        assert_true(ss_figures_add(&monitor.figures, 0.5, i % 2 ? 0.551 : 0.449));
    monitor.lost_counted = 25;
    monitor.late_samples = 6;
    ss_judge_control(&outcome, &input);
    assert_near(figure(SS_CHECK_SAMPLES_OFF), 20, 1e-9);
    assert_near(figure(SS_CHECK_SAMPLES_LOST), 4.96, 1e-9);
}

TEST_WITH(open_loop_error_is_not_judged, set_up, tear_down) {
    plan.set.modules[SS_KIND_CONTROL].table.control.open_loop = true;
    outcome.error_mean_percent = 40;
    ss_judge_control(&outcome, &input);
    assert_true(isnan(figure(SS_CHECK_MEAN_ERROR)));
    assert_true(isnan(figure(SS_CHECK_MEAN_SQUARED_ERROR)));
    assert_true(isnan(figure(SS_CHECK_SAMPLES_OFF)));
    assert_near(figure(SS_CHECK_OTHERS), 0.4, 1e-9);
}

TEST_WITH(late_wake_ups_are_compared_with_the_rounds_of_instances_that_switch, set_up, tear_down) {
    static const struct {
        double switches_per_second, late; /* late: NAN if not checked */
        uint32_t switching;
    } rows[] = {{0, NAN, 0}, {40, 1, 2}, {40, 2, 1}};
    plan.instances = 12;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        outcome.switches_per_second = rows[i].switches_per_second;
        input.instances_with_rounds = rows[i].switching;
        ss_judge_control(&outcome, &input);
        assert_int_equal(isnan(figure(SS_CHECK_LATE_WAKE_UPS)), isnan(rows[i].late));
        if (!isnan(rows[i].late))
            assert_near(figure(SS_CHECK_LATE_WAKE_UPS), rows[i].late, 1e-9);
    }
}

TEST_WITH(run_without_samples_is_invalid, set_up, tear_down) {
    ss_figures_free(&monitor.figures);
    ss_judge_control(&outcome, &input);
    ss_judge_run(&outcome, &plan);
    assert_string_equal(ss_verdict_word(&outcome.verdict), "invalid");
    assert_that(outcome.verdict.findings[SS_CHECK_SAMPLES], ==, SS_INVALID);
    assert_that(outcome.verdict.findings[SS_CHECK_MEAN_ERROR], ==, SS_NOT_CHECKED);
}

TEST_WITH(throughput_is_not_judged_if_the_target_or_the_limit_changes, set_up, tear_down) {
    iterate(120, 1.03);
    assert_near(figure(SS_CHECK_THROUGHPUT), 3, 0.3);
    assert_near(outcome.evidence.throughput.at, 0.5, 0.06);
    for (int varied = 0; varied < 2; varied++) {
        ss_evidence_clear(&outcome.evidence);
        outcome.target_varied = varied;
        outcome.capacity.changes = !varied;
        ss_judge_iterations(&outcome, &iterations);
        assert_true(isnan(figure(SS_CHECK_THROUGHPUT)));
    }
}

TEST_WITH(throughput_steps_are_not_judged_with_too_few_iterations, set_up, tear_down) {
    ss_iterations_add(&iterations, 0, SS_SECOND, 2 * SS_SECOND);
    ss_judge_iterations(&outcome, &iterations);
    assert_near(figure(SS_CHECK_ITERATIONS), 1, 0);
    assert_true(isnan(figure(SS_CHECK_THROUGHPUT)));
}

TEST_WITH(failed_and_early_ended_instances_are_counted, set_up, tear_down) {
    ss_ends_add(&outcome.ends, &(struct ss_end){.instance = 0, .status = 7 << 8});
    ss_judge_run(&outcome, &plan);
    assert_near(figure(SS_CHECK_FAILED_INSTANCES), 50, 1e-9);
    assert_near(figure(SS_CHECK_ENDED_EARLY), 0, 1e-9);
    ss_ends_add(&outcome.ends, &(struct ss_end){.instance = 1, .status = 0});
    ss_judge_run(&outcome, &plan);
    assert_near(figure(SS_CHECK_ENDED_EARLY), 50, 1e-9);
    outcome.ended_by = "workloads"; /* the run ended with its instances */
    ss_judge_run(&outcome, &plan);
    assert_near(figure(SS_CHECK_ENDED_EARLY), 0, 1e-9);
}

TEST_WITH(run_that_ends_before_its_duration_is_doubtful, set_up, tear_down) {
    outcome.ended_by = "workloads";
    ss_ends_add(&outcome.ends, &(struct ss_end){.instance = 0, .status = 0});
    ss_ends_add(&outcome.ends, &(struct ss_end){.instance = 1, .status = 0});
    ss_judge_control(&outcome, &input);
    ss_judge_run(&outcome, &plan);
    assert_that(outcome.verdict.finding, ==, SS_PASSED);
    plan.duration = 60 * SS_SECOND;
    ss_judge_run(&outcome, &plan);
    assert_near(figure(SS_CHECK_ENDED_EARLY), 100, 1e-9);
    assert_that(outcome.verdict.finding, ==, SS_DOUBTFUL);
}

TEST_WITH(interruption_and_lost_output_lines_are_detected, set_up, tear_down) {
    const struct {
        const char *by;
        enum ss_finding finding;
        double figure;
    } rows[] = {{"duration", SS_PASSED, 0}, {"trace", SS_PASSED, 0}, {"workloads", SS_PASSED, 0},
        {"signal", SS_DOUBTFUL, 1}, {"failure", SS_INVALID, 3}, {"error", SS_INVALID, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        outcome.ended_by = rows[i].by;
        ss_judge_run(&outcome, &plan);
        assert_that(outcome.verdict.findings[SS_CHECK_INTERRUPTED], ==, rows[i].finding);
        assert_near(figure(SS_CHECK_INTERRUPTED), rows[i].figure, 0);
    }
    outcome.lines_lost = 3;
    ss_judge_run(&outcome, &plan);
    assert_that(outcome.verdict.findings[SS_CHECK_LINES_LOST], ==, SS_DOUBTFUL);
}

UNIT_RUN
