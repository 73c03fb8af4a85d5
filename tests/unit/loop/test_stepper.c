/* SPDX-License-Identifier: Apache-2.0 */

#include "stepper_bench.h"

BENCH_TEST(modules_are_not_called_before_control) {
    struct ss_action action = ss_stepper_step(&bench.stepper, START - 7 * SS_SECOND);
    assert_action(action, false, SS_STATE_RUNNING, 0);
    action = ss_stepper_step(&bench.stepper, START - 1);
    assert_action(action, false, SS_STATE_RUNNING, 0);
    atomic_store(&bench.board->control_start, SS_TIME_NEVER);
    assert_action(step_at(5 * MS), false, SS_STATE_RUNNING, SS_TIME_NEVER);
    assert_int_equal(bench.script.decisions, 0);
}

BENCH_TEST(first_round_begins_at_the_phase) {
    bench.script.phase = 30 * MS;
    assert_action(step_at(0), true, SS_STATE_STOPPED, 30 * MS);
    assert_action(step_at(10 * MS), false, SS_STATE_STOPPED, 30 * MS);
    assert_int_equal(bench.script.decisions, 0);
    assert_action(step_at(30 * MS), true, SS_STATE_RUNNING, 40 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START);
    struct ss_pipeline pipeline = bench.stepper.planner.pipeline;
    ss_stepper_open(&bench.stepper, &pipeline);
    assert_int_equal(step_at(0).deadline, START + 30 * MS);
}

/*
 * Rounds of 30 ms: stopped for 20 ms, because the instance ran before, then running for 10 ms. The
 * phase decides at which point of such a round control begins.
 */
BENCH_TEST(control_begins_in_the_round_before_the_first) {
    static const struct {
        int phase;   /* ms */
        int stopped; /* until then, ms */
        int running; /* until then, ms */
    } cases[] = {{30, 20, 30}, {29, 19, 29}, {11, 1, 11}, {10, 30, 10}, {1, 21, 1}, {95, 25, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_time phase = cases[i].phase * MS, stop = cases[i].stopped * MS;
        open_bench(state);
        bench.script.phase = phase;
        bench.script.round = 30 * MS;
        bool stops = cases[i].stopped < cases[i].running;
        struct ss_action action = step_at(0);
        assert_int_equal(action.state, stops ? SS_STATE_STOPPED : SS_STATE_RUNNING);
        assert_int_equal(action.deadline - START, stops ? stop : (ss_time)cases[i].running * MS);
    }
}

/* The round is longer than any executor is late. */
BENCH_TEST(long_round_before_the_first_is_not_cut) {
    bench.script.phase = 2 * SS_SECOND;
    bench.script.round = 10 * SS_SECOND;
    bench.script.plans[SS_STATE_RUNNING].length = 9 * SS_SECOND;
    bench.script.plans[SS_STATE_STOPPED].length = SS_SECOND;
    assert_action(step_at(0), true, SS_STATE_STOPPED, SS_SECOND);
    assert_int_equal(bench.script.dithering.moment.now, START - 8 * SS_SECOND);
}

BENCH_TEST(no_instance_runs_before_all_are_started) {
    atomic_store(&bench.board->phase, SS_PHASE_STARTING);
    atomic_store(&bench.board->control_start, SS_TIME_NEVER);
    assert_action(step_at(0), true, SS_STATE_STOPPED, SS_TIME_NEVER);
    assert_action(step_at(1 * MS), false, SS_STATE_STOPPED, SS_TIME_NEVER);
    /* Warm-up. */
    atomic_store(&bench.board->phase, SS_PHASE_RUNNING);
    atomic_store(&bench.board->control_start, START + 50 * MS);
    assert_action(step_at(2 * MS), true, SS_STATE_RUNNING, 50 * MS);
    assert_int_equal(bench.script.decisions, 0);
    assert_action(step_at(51 * MS), true, SS_STATE_STOPPED, 71 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START + 50 * MS);
}

/* The instance ran until now; dithering decides which state is first. */
BENCH_TEST(first_state_begins_at_the_first_step) {
    assert_action(step_at(4 * MS), true, SS_STATE_STOPPED, 24 * MS);
    assert_int_equal(bench.script.dithering.state, SS_STATE_RUNNING);
    assert_int_equal(bench.script.dithering.moment.now, START + 4 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START);
    assert_near(bench.script.dithering.duty, 0.6, 0);
    open_bench(state);
    bench.script.plans[SS_STATE_RUNNING] = (struct ss_planned_state){SS_STATE_RUNNING, 10 * MS};
    assert_action(step_at(0), false, SS_STATE_RUNNING, 10 * MS);
}

/* Every step is 3 ms late, but every state ends on the grid. */
BENCH_TEST(state_deadlines_are_absolute) {
    step_at(0);
    for (int round = 0; round < 1000; round++) {
        ss_time begin = (ss_time)round * 30 * MS;
        assert_action(step_at(begin + 23 * MS), true, SS_STATE_RUNNING, begin + 30 * MS);
        assert_int_equal(bench.script.dithering.moment.now, START + begin + 20 * MS);
        assert_action(step_at(begin + 33 * MS), true, SS_STATE_STOPPED, begin + 50 * MS);
        assert_int_equal(bench.script.dithering.moment.now, START + begin + 30 * MS);
    }
}

/*
 * Stopped until 20 ms, running until 30 ms, stopped until 50 ms, running until 60 ms: at 55 ms, two
 * states have lapsed. Each step that plans asks the trace once.
 */
BENCH_TEST(lapsed_states_are_skipped) {
    step_at(0);
    for (int time = 1; time < 20; time++)
        assert_action(step_at(time * MS), false, SS_STATE_STOPPED, 20 * MS);
    assert_int_equal(bench.script.decisions, 1);
    assert_int_equal(bench.script.asked, 1);
    assert_action(step_at(55 * MS), true, SS_STATE_RUNNING, 60 * MS);
    assert_int_equal(bench.script.decisions, 4);
    assert_int_equal(bench.script.asked, 2);
    /* The stop until 80 ms is over before the step. */
    assert_action(step_at(85 * MS), false, SS_STATE_RUNNING, 90 * MS);
}

BENCH_TEST(plan_restarts_after_too_many_lapsed_states) {
    step_at(0);
    assert_action(step_at(60 * SS_SECOND), true, SS_STATE_RUNNING, 60 * SS_SECOND + 10 * MS);
    assert_int_equal(bench.script.decisions, 2);
    open_bench(state);
    bench.script.plans[SS_STATE_STOPPED].length = MS;
    bench.script.plans[SS_STATE_RUNNING].length = MS;
    step_at(0);
    struct ss_action action = step_at(900 * MS);
    assert_int_equal(action.failure, SS_FAILURE_NONE);
    assert_that(bench.script.decisions, <=, 20);
    assert_int_equal(action.deadline, START + 901 * MS);
}

BENCH_TEST(zero_length_state_is_lengthened) {
    bench.script.plans[SS_STATE_STOPPED].length = 0;
    bench.script.plans[SS_STATE_RUNNING].length = 0;
    step_at(0);
    struct ss_action action = step_at(5 * MS);
    assert_that(action.deadline, >, START + 5 * MS);
}

/* ---- pauses and free sections ---- */

BENCH_TEST(free_section_begins_without_waiting_for_a_round) {
    static const ss_time ends[] = {70 * MS, SS_TIME_NEVER};
    for (size_t i = 0; i < 2; i++) {
        open_bench(state);
        bench.script.phase = 30 * MS;
        bench.script.free_from = 0;
        bench.script.free_until = ends[i];
        bench.stepper.state = SS_STATE_STOPPED;
        assert_action(step_at(0), true, SS_STATE_RUNNING, ends[i]);
    }
}

BENCH_TEST(pause_restarts_control) {
    step_at(0);
    step_at(20 * MS);
    atomic_store(&bench.board->phase, SS_PHASE_PAUSED);
    assert_action(step_at(25 * MS), true, SS_STATE_STOPPED, SS_TIME_NEVER);
    assert_action(step_at(26 * MS), false, SS_STATE_STOPPED, SS_TIME_NEVER);
    assert_int_equal(bench.script.decisions, 2);
    atomic_store(&bench.board->paused, 40 * MS);
    atomic_store(&bench.board->control_since, START + 65 * MS);
    atomic_store(&bench.board->phase, SS_PHASE_RUNNING);
    assert_action(step_at(66 * MS), true, SS_STATE_RUNNING, 76 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START + 65 * MS);
    assert_int_equal(bench.script.trace_time, 26 * MS);
    /* A pause that ends while the executor sleeps is noticed, too. */
    atomic_store(&bench.board->paused, 44 * MS);
    atomic_store(&bench.board->control_since, START + 71 * MS);
    step_at(72 * MS);
    assert_int_equal(bench.script.decisions, 4);
    assert_int_equal(bench.script.dithering.moment.since, START + 71 * MS);
}

BENCH_TEST(end_of_the_run_continues_the_instance) {
    step_at(0);
    atomic_store(&bench.board->phase, SS_PHASE_ENDING);
    assert_action(step_at(5 * MS), true, SS_STATE_RUNNING, SS_TIME_NEVER);
    assert_action(step_at(6 * MS), false, SS_STATE_RUNNING, SS_TIME_NEVER);
}

/* Executors that leave a `free` section late must agree on its end. */
BENCH_TEST(control_restarts_after_free_section) {
    bench.script.free_from = 15 * MS;
    bench.script.free_until = 95 * MS;
    step_at(0);
    assert_action(step_at(21 * MS), true, SS_STATE_RUNNING, 95 * MS);
    assert_action(step_at(40 * MS), false, SS_STATE_RUNNING, 95 * MS);
    assert_int_equal(bench.script.decisions, 1);
    assert_action(step_at(98 * MS), true, SS_STATE_STOPPED, 118 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START + 95 * MS);
    assert_int_equal(bench.script.dithering.moment.now, START + 98 * MS);
}

BENCH_TEST(control_restarts_when_set_ends_a_free_section) {
    static const ss_time ends[] = {95 * MS, SS_TIME_NEVER};
    for (size_t i = 0; i < 2; i++) {
        const struct ss_setpoint_change change = {START + 40 * MS, 0.3};
        open_bench(state);
        step_at(0);
        bench.script.free_from = 15 * MS;
        bench.script.free_until = ends[i];
        step_at(21 * MS);
        assert_int_equal(bench.script.decisions, 1);
        ss_setpoints_put(&bench.board->setpoints, &change);
        atomic_store(&bench.board->setpoint, ss_word_from_double(change.load));
        step_at(43 * MS);
        assert_int_equal(bench.script.decisions, 2);
        assert_int_equal(bench.script.dithering.moment.since, START + 40 * MS);
        assert_int_equal(bench.stepper.planner.pipeline.since, START + 40 * MS);
    }
}

BENCH_TEST(pause_delays_the_end_of_a_free_section) {
    bench.script.free_from = 0;
    bench.script.free_until = 95 * MS;
    step_at(0);
    atomic_store(&bench.board->paused, 40 * MS);
    atomic_store(&bench.board->control_since, START + 60 * MS);
    assert_action(step_at(95 * MS), false, SS_STATE_RUNNING, 135 * MS);
    step_at(135 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START + 135 * MS);
}

UNIT_RUN
