/* SPDX-License-Identifier: Apache-2.0 */

#include "stepper_bench.h"

TEST(modules_are_not_called_before_control) {
    BENCH bench;
    open_bench(&bench);
    struct ss_action action = ss_stepper_step(&bench.stepper, START - 7 * SS_SECOND);
    assert_action(action, false, SS_STATE_RUNNING, 0);
    action = ss_stepper_step(&bench.stepper, START - 1);
    assert_action(action, false, SS_STATE_RUNNING, 0);
    atomic_store(&bench.board->control_start, SS_TIME_NEVER);
    assert_action(step_at(&bench, 5 * MS), false, SS_STATE_RUNNING, SS_TIME_NEVER);
    assert_int_equal(bench.script.decisions, 0);
}

TEST(first_round_begins_at_the_phase) {
    BENCH bench;
    open_bench(&bench);
    bench.script.phase = 30 * MS;
    assert_action(step_at(&bench, 0), true, SS_STATE_STOPPED, 30 * MS);
    assert_action(step_at(&bench, 10 * MS), false, SS_STATE_STOPPED, 30 * MS);
    assert_int_equal(bench.script.decisions, 0);
    assert_action(step_at(&bench, 30 * MS), true, SS_STATE_RUNNING, 40 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START);
    struct ss_pipeline pipeline = bench.stepper.pipeline;
    ss_stepper_open(&bench.stepper, &pipeline);
    assert_int_equal(step_at(&bench, 0).deadline, START + 30 * MS);
}

/*
 * Rounds of 30 ms: stopped for 20 ms, as the instance runs before, then running for 10 ms. Control
 * begins within such a round, wherever the phase puts it, whether the instances ran before or not.
 */
TEST(control_begins_in_the_round_before_the_first) {
    static const struct {
        int phase;
        int stopped; /* until then, ms */
        int running;
    } cases[] = {{30, 20, 30}, {29, 19, 29}, {11, 1, 11}, {10, 30, 10}, {1, 21, 1}, {95, 25, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_time phase = cases[i].phase * MS, stop = cases[i].stopped * MS;
        BENCH bench;
        open_bench(&bench);
        bench.script.phase = phase;
        bench.script.round = 30 * MS;
        bool stops = cases[i].stopped < cases[i].running;
        struct ss_action action = step_at(&bench, 0);
        assert_int_equal(action.state, stops ? SS_STATE_STOPPED : SS_STATE_RUNNING);
        assert_int_equal(action.deadline - START, stops ? stop : (ss_time)cases[i].running * MS);
    }
}

TEST(target_is_asked_once_in_a_step) {
    BENCH bench;
    open_bench(&bench);
    assert_action(step_at(&bench, 0), true, SS_STATE_STOPPED, 20 * MS);
    assert_int_equal(bench.script.asked, 1);
    step_at(&bench, 10 * MS);
    assert_int_equal(bench.script.asked, 1);
    /* Several states have lapsed. */
    step_at(&bench, 90 * MS);
    assert_int_equal(bench.script.asked, 2);
    assert_that(bench.script.decisions, >, 3);
}

/* Its rounds are longer than an executor is ever late. */
TEST(long_round_before_the_first_is_not_cut) {
    BENCH bench;
    open_bench(&bench);
    bench.script.phase = 2 * SS_SECOND;
    bench.script.round = 10 * SS_SECOND;
    bench.script.plans[SS_STATE_RUNNING].length = 9 * SS_SECOND;
    bench.script.plans[SS_STATE_STOPPED].length = SS_SECOND;
    assert_action(step_at(&bench, 0), true, SS_STATE_STOPPED, SS_SECOND);
    assert_int_equal(bench.script.dithering.moment.now, START - 8 * SS_SECOND);
}

TEST(no_instance_runs_before_all_are_started) {
    BENCH bench;
    open_bench(&bench);
    atomic_store(&bench.board->phase, SS_PHASE_STARTING);
    atomic_store(&bench.board->control_start, SS_TIME_NEVER);
    assert_action(step_at(&bench, 0), true, SS_STATE_STOPPED, SS_TIME_NEVER);
    assert_action(step_at(&bench, 1 * MS), false, SS_STATE_STOPPED, SS_TIME_NEVER);
    /* Warm-up. */
    atomic_store(&bench.board->phase, SS_PHASE_RUNNING);
    atomic_store(&bench.board->control_start, START + 50 * MS);
    assert_action(step_at(&bench, 2 * MS), true, SS_STATE_RUNNING, 50 * MS);
    assert_int_equal(bench.script.decisions, 0);
    assert_action(step_at(&bench, 51 * MS), true, SS_STATE_STOPPED, 71 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START + 50 * MS);
}

/* The instance ran until now; dithering decides which state is first. */
TEST(first_state_begins_at_the_first_step) {
    BENCH bench;
    open_bench(&bench);
    assert_action(step_at(&bench, 4 * MS), true, SS_STATE_STOPPED, 24 * MS);
    assert_int_equal(bench.script.dithering.state, SS_STATE_RUNNING);
    assert_int_equal(bench.script.dithering.moment.now, START + 4 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START);
    assert_near(bench.script.dithering.duty, 0.6, 0);
    close_bench(&bench);

    open_bench(&bench);
    bench.script.plans[SS_STATE_RUNNING] = (struct ss_planned_state){SS_STATE_RUNNING, 10 * MS};
    assert_action(step_at(&bench, 0), false, SS_STATE_RUNNING, 10 * MS);
}

TEST(spurious_wakeup_has_no_effect) {
    BENCH bench;
    open_bench(&bench);
    step_at(&bench, 0);
    for (int time = 1; time < 20; time++)
        assert_action(step_at(&bench, time * MS), false, SS_STATE_STOPPED, 20 * MS);
    assert_int_equal(bench.script.decisions, 1);
    assert_action(step_at(&bench, 20 * MS), true, SS_STATE_RUNNING, 30 * MS);
}

/* Every step is 3 ms late, but every state ends on the grid. */
TEST(state_deadlines_are_absolute) {
    BENCH bench;
    open_bench(&bench);
    step_at(&bench, 0);
    for (int round = 0; round < 1000; round++) {
        ss_time begin = (ss_time)round * 30 * MS;
        assert_action(step_at(&bench, begin + 23 * MS), true, SS_STATE_RUNNING, begin + 30 * MS);
        assert_int_equal(bench.script.dithering.moment.now, START + begin + 20 * MS);
        assert_action(step_at(&bench, begin + 33 * MS), true, SS_STATE_STOPPED, begin + 50 * MS);
        assert_int_equal(bench.script.dithering.moment.now, START + begin + 30 * MS);
    }
}

/*
 * Stopped until 20, running until 30, stopped until 50, running until 60: at 55 two states have
 * lapsed.
 */
TEST(lapsed_states_are_skipped) {
    BENCH bench;
    open_bench(&bench);
    step_at(&bench, 0);
    assert_action(step_at(&bench, 55 * MS), true, SS_STATE_RUNNING, 60 * MS);
    assert_int_equal(bench.script.decisions, 4);
    /* Stopped until 80: over before the step. */
    assert_action(step_at(&bench, 85 * MS), false, SS_STATE_RUNNING, 90 * MS);
}

TEST(plan_restarts_after_too_many_lapsed_states) {
    BENCH bench;
    open_bench(&bench);
    bench.script.plans[SS_STATE_STOPPED].length = MS;
    bench.script.plans[SS_STATE_RUNNING].length = MS;
    step_at(&bench, 0);
    struct ss_action action = step_at(&bench, 900 * MS);
    assert_int_equal(action.failure, SS_FAILURE_NONE);
    assert_that(bench.script.decisions, <=, 20);
    assert_int_equal(action.deadline, START + 901 * MS);
}

TEST(deadlines_restart_after_long_absence) {
    BENCH bench;
    open_bench(&bench);
    step_at(&bench, 0);
    assert_action(
        step_at(&bench, 60 * SS_SECOND), true, SS_STATE_RUNNING, 60 * SS_SECOND + 10 * MS);
    assert_int_equal(bench.script.decisions, 2);
}

TEST(zero_length_state_is_lengthened) {
    BENCH bench;
    open_bench(&bench);
    bench.script.plans[SS_STATE_STOPPED].length = 0;
    bench.script.plans[SS_STATE_RUNNING].length = 0;
    step_at(&bench, 0);
    struct ss_action action = step_at(&bench, 5 * MS);
    assert_that(action.deadline, >, START + 5 * MS);
}

UNIT_RUN
