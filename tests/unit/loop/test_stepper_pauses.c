/* SPDX-License-Identifier: Apache-2.0 */

#include "stepper_bench.h"

TEST(free_section_begins_without_waiting_for_a_round) {
    BENCH bench;
    open_bench(&bench);
    bench.script.phase = 30 * MS;
    bench.script.free_from = 0;
    bench.script.free_until = 70 * MS;
    bench.stepper.state = SS_STATE_STOPPED;
    assert_action(step_at(&bench, 0), true, SS_STATE_RUNNING, 70 * MS);
}

TEST(pause_restarts_control) {
    BENCH bench;
    open_bench(&bench);
    step_at(&bench, 0);
    step_at(&bench, 20 * MS);
    atomic_store(&bench.board->phase, SS_PHASE_PAUSED);
    assert_action(step_at(&bench, 25 * MS), true, SS_STATE_STOPPED, SS_TIME_NEVER);
    assert_action(step_at(&bench, 26 * MS), false, SS_STATE_STOPPED, SS_TIME_NEVER);
    assert_int_equal(bench.script.decisions, 2);
    atomic_store(&bench.board->paused, 40 * MS);
    atomic_store(&bench.board->control_since, START + 65 * MS);
    atomic_store(&bench.board->phase, SS_PHASE_RUNNING);
    assert_action(step_at(&bench, 66 * MS), true, SS_STATE_RUNNING, 76 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START + 65 * MS);
    assert_int_equal(bench.script.trace_time, 26 * MS);
}

TEST(pause_during_sleep_is_noticed) {
    BENCH bench;
    open_bench(&bench);
    step_at(&bench, 0);
    atomic_store(&bench.board->paused, 4 * MS);
    atomic_store(&bench.board->control_since, START + 9 * MS);
    assert_action(step_at(&bench, 10 * MS), true, SS_STATE_RUNNING, 20 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START + 9 * MS);
}

TEST(end_of_the_run_continues_the_instance) {
    BENCH bench;
    open_bench(&bench);
    step_at(&bench, 0);
    atomic_store(&bench.board->phase, SS_PHASE_ENDING);
    assert_action(step_at(&bench, 5 * MS), true, SS_STATE_RUNNING, SS_TIME_NEVER);
    assert_action(step_at(&bench, 6 * MS), false, SS_STATE_RUNNING, SS_TIME_NEVER);
}

/* Executors that leave a `free` section late must agree on its end. */
TEST(control_restarts_after_free_section) {
    BENCH bench;
    open_bench(&bench);
    bench.script.free_from = 15 * MS;
    bench.script.free_until = 95 * MS;
    step_at(&bench, 0);
    assert_action(step_at(&bench, 21 * MS), true, SS_STATE_RUNNING, 95 * MS);
    assert_action(step_at(&bench, 40 * MS), false, SS_STATE_RUNNING, 95 * MS);
    assert_int_equal(bench.script.decisions, 1);
    assert_action(step_at(&bench, 98 * MS), true, SS_STATE_STOPPED, 118 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START + 95 * MS);
    assert_int_equal(bench.script.dithering.moment.now, START + 98 * MS);
}

static void set_target(struct bench *bench, ss_time time, double load) {
    const struct ss_setpoint_change change = {START + time, load};
    ss_setpoints_put(&bench->board->setpoints, &change);
    atomic_store(&bench->board->setpoint, ss_word_from_double(load));
}

static void assert_set_ends_free_section(ss_time free_until) {
    BENCH bench;
    open_bench(&bench);
    step_at(&bench, 0);
    bench.script.free_from = 15 * MS;
    bench.script.free_until = free_until;
    step_at(&bench, 21 * MS);
    assert_int_equal(bench.script.decisions, 1);
    set_target(&bench, 40 * MS, 0.3);
    step_at(&bench, 43 * MS);
    assert_int_equal(bench.script.decisions, 2);
    assert_int_equal(bench.script.dithering.moment.since, START + 40 * MS);
    assert_int_equal(bench.stepper.pipeline.since, START + 40 * MS);
}

TEST(control_restarts_when_set_ends_a_free_section) {
    assert_set_ends_free_section(95 * MS);
    assert_set_ends_free_section(SS_TIME_NEVER);
}

TEST(endless_free_section_has_no_deadline) {
    BENCH bench;
    open_bench(&bench);
    bench.script.free_from = 0;
    bench.script.free_until = SS_TIME_NEVER;
    assert_action(step_at(&bench, 0), false, SS_STATE_RUNNING, SS_TIME_NEVER);
}

TEST(pause_delays_the_end_of_a_free_section) {
    BENCH bench;
    open_bench(&bench);
    bench.script.free_from = 0;
    bench.script.free_until = 95 * MS;
    step_at(&bench, 0);
    atomic_store(&bench.board->paused, 40 * MS);
    atomic_store(&bench.board->control_since, START + 60 * MS);
    assert_action(step_at(&bench, 95 * MS), false, SS_STATE_RUNNING, 135 * MS);
    step_at(&bench, 135 * MS);
    assert_int_equal(bench.script.dithering.moment.since, START + 135 * MS);
}

UNIT_RUN
