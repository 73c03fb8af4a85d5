/* SPDX-License-Identifier: Apache-2.0 */

#include "stepper_bench.h"

BENCH_TEST(control_module_gets_the_expected_inputs) {
    step_at(4 * MS);
    assert_int_equal(bench.script.trace_time, 4 * MS);
    assert_int_equal(bench.script.input.moment.now, START + 4 * MS);
    assert_int_equal(bench.script.input.moment.since, START);
    assert_near(bench.script.input.target, 0.5, 0);
    assert_near(bench.script.input.load, 0.4, 0);
    assert_near(ss_double_from_word(bench.board->rows[0].output), 0.6, 0);
    assert_near(ss_double_from_word(bench.board->rows[0].global_duty), 0.6, 0);
    assert_near(ss_double_from_word(bench.board->rows[0].local_duty), 0.6, 0);
}

static void assert_excess(size_t count, const char *text) {
    static struct ss_module heads[SS_KINDS];
    struct ss_option_store store = {0};
    for (int kind = 0; kind < SS_KINDS; kind++) {
        heads[kind].name = "script";
        bench.rig.modules[kind].head = &heads[kind];
    }
    ss_pipeline_warn_of_excess(&bench.rig, bench.board, &store);
    assert_int_equal(store.warning_count, count);
    if (text)
        assert_string_equal(store.warnings[count - 1], text);
    ss_option_store_free(&store);
}

BENCH_TEST(out_of_range_duty_is_limited_and_reported) {
    step_at(4 * MS);
    assert_excess(0, NULL);
    bench.script.output = 1 + 1e-9;
    step_at(40 * MS);
    assert_excess(0, NULL);
    bench.script.output = 2;
    step_at(80 * MS);
    assert_near(ss_double_from_word(bench.board->rows[0].output), 1, 0);
    assert_excess(
        1, "control/script returned 2 as a duty, which was limited to the range from 0 to 1");
    bench.script.output = 3; /* the first excess is reported */
    bench.script.share = -1;
    step_at(120 * MS);
    assert_excess(
        2, "space/script returned -1 as a duty, which was limited to the range from 0 to 1");
}

BENCH_TEST(target_set_by_a_user_replaces_the_trace) {
    bench.script.free_from = 0;
    bench.script.free_until = SS_TIME_NEVER;
    atomic_store(&bench.board->setpoint, ss_word_from_double(0.9));
    step_at(0);
    assert_near(bench.script.input.target, 0.9, 0);
    assert_int_equal(bench.script.decisions, 1);
    atomic_store(&bench.board->setpoint, ss_word_from_double(NAN));
    assert_action(step_at(20 * MS), true, SS_STATE_RUNNING, SS_TIME_NEVER);
}

BENCH_TEST(control_works_without_feedback) {
    /* Without an estimate, the duty is the target. */
    bench.script.load = INFINITY;
    step_at(0);
    assert_int_equal(bench.script.updates, 0);
    assert_int_equal(bench.board->publications, 0);
    assert_near(bench.script.dithering.duty, 0.5, 0);

    /* A planned state keeps the duty. */
    open_bench(state);
    step_at(0);
    bench.script.planned = true;
    bench.script.read_error = EIO;
    bench.script.output = 0.9;
    assert_int_equal(step_at(20 * MS).failure, SS_FAILURE_NONE);
    assert_int_equal(bench.script.decisions, 2);
    assert_int_equal(bench.script.updates, 1);
    assert_near(bench.script.dithering.duty, 0.6, 0);

    /* An open loop reads no feedback. */
    open_bench(state);
    bench.rig.modules[SS_KIND_CONTROL].table.control.open_loop = true;
    bench.script.read_error = EIO;
    assert_int_equal(step_at(0).failure, SS_FAILURE_NONE);
    assert_int_equal(bench.script.updates, 1);
    assert_true(isnan(bench.script.input.load));
}

BENCH_TEST(module_results_are_limited_to_their_range) {
    static const double loads[][2] = {{-3, 0}, {7, 1}, {0.3, 0.3}};
    static const double outputs[][2] = {{-3, 0}, {7, 1}, {INFINITY, 1}, {0.3, 0.3}};
    for (size_t i = 0; i < 3; i++) {
        open_bench(state);
        bench.script.load = loads[i][0];
        step_at(0);
        assert_near(bench.script.input.load, loads[i][1], 0);
    }
    for (size_t i = 0; i < 4; i++) {
        open_bench(state);
        bench.script.output = outputs[i][0];
        step_at(0);
        assert_near(bench.script.dithering.duty, outputs[i][1], 0);
        assert_near(ss_double_from_word(bench.board->rows[0].output), outputs[i][1], 0);
    }
}

BENCH_TEST(nan_from_a_module_ends_the_run) {
    static const struct {
        double target, load, output, share;
        int read_error;
        enum ss_failure failure;
    } cases[] = {
        {0.5, NAN, 0.6, 1, 0, SS_FAILURE_NOT_A_NUMBER},
        {0.5, 0.4, NAN, 1, 0, SS_FAILURE_NOT_A_NUMBER},
        {0.5, 0.4, 0.6, NAN, 0, SS_FAILURE_NOT_A_NUMBER},
        {NAN, INFINITY, 0.6, 1, 0, SS_FAILURE_NOT_A_NUMBER},
        {0.5, 0.4, 0.6, 1, EIO, SS_FAILURE_COUNTERS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_bench(state);
        bench.script.target = cases[i].target;
        bench.script.load = cases[i].load;
        bench.script.output = cases[i].output;
        bench.script.share = cases[i].share;
        bench.script.read_error = cases[i].read_error;
        struct ss_action action = step_at(0);
        assert_int_equal(action.failure, cases[i].failure);
        assert_false(action.change);
        assert_int_equal(action.deadline, SS_TIME_NEVER);
    }
}

UNIT_RUN
