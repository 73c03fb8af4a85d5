/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/outcome.h"
#include "unit.h"

/* A run of 10 s: two instances of one command, one of another. */
static struct ss_plan plan;
static struct ss_outcome outcome;
static struct ss_iterations iterations;
static struct ss_command_line lines[] = {{.first = 0, .count = 2}, {.first = 2, .count = 1}};

static int set_up(void **state) {
    plan = (struct ss_plan){.instances = 3,
        .commands.lines = lines,
        .commands.line_count = 2,
        .has_iteration = true,
        .duration = 10 * SS_SECOND};
    ss_outcome_open(&outcome);
    outcome.ended_by = "duration";
    iterations = (struct ss_iterations){.to = 20 * SS_SECOND};
    ss_iterations_count_from(&iterations, 10 * SS_SECOND);
    assert_int_equal(ss_iterations_keep_apart(&iterations, 3, 2), 0);
    iterations.line_of[2] = 1;
    for (uint32_t i = 0; i < 3; i++)
        ss_iterations_start(&iterations, i, 10 * SS_SECOND);
    return 0;
}

static void take(void) {
    ss_outcome_take_iterations(&outcome, &plan, &iterations);
}

static int tear_down(void **state) {
    ss_iterations_free(&iterations);
    ss_outcome_close(&outcome);
    return 0;
}

#define OUTCOME_TEST(name) TEST_WITH(name, set_up, tear_down)

static void read_at(uint32_t instance, uint32_t count, ss_time ms) {
    ss_iterations_report_read(&iterations, instance, count, ms * SS_MILLISECOND, 0, 1);
    ss_iterations_add_evenly(&iterations, instance, count, ms * SS_MILLISECOND);
}

static bool is_warned_of(const char *part) {
    for (int i = 0; i < outcome.warning_count; i++) {
        if (strstr(outcome.warnings[i], part))
            return true;
    }
    return false;
}

/* The other command keeps its figures; the combined figures are unknown. */
OUTCOME_TEST(figures_are_unknown_if_iterations_end_in_bursts) {
    for (ss_time ms = 10100; ms <= 20000; ms += 100) {
        read_at(0, 1, ms);
        read_at(1, 1, ms);
    }
    for (ss_time ms = 11000; ms <= 20000; ms += 1000)
        read_at(2, 282, ms);
    take();
    assert_true(isnan(outcome.rate.per_second));
    assert_true(isnan(outcome.iteration_times.mean));
    assert_int_equal(outcome.throughput_count, 0);
    assert_true(outcome.evidence.throughput.checked);
    assert_true(isnan(outcome.evidence.figures[SS_CHECK_THROUGHPUT]));
    assert_near(outcome.per_command[0].rate.per_second, 20, 1e-9);
    assert_true(isnan(outcome.per_command[1].rate.per_second));
    assert_true(isnan(outcome.per_command[1].times.median));
    assert_true(isnan(outcome.per_instance[2].rate.per_second));
    assert_that(outcome.iterations_in_bursts, ==, 2820);
    assert_true(is_warned_of("2820 of 3020 iterations ended in bursts"));
    assert_true(is_warned_of("--tty"));
}

/* One burst of two lines in a hundred. */
OUTCOME_TEST(rare_bursts_do_not_affect_the_figures) {
    for (uint32_t i = 0; i < 3; i++) {
        for (ss_time ms = 10100; ms < 19000; ms += 100)
            read_at(i, 1, ms);
        read_at(i, 2, 20000);
    }
    take();
    assert_that(outcome.rate.per_second, >, 20);
    assert_that(outcome.iterations_in_bursts, ==, 6);
    assert_int_equal(outcome.warning_count, 0);
}

OUTCOME_TEST(warnings_have_no_control_characters) {
    ss_outcome_warn(&outcome, "the sensor printed '%s'",
        "\033[31m\xc2\x9b"
        "1m");
    assert_true(is_warned_of("printed '?[31m??1m'"));
}

OUTCOME_TEST(unmatched_lines_are_shown_if_no_iteration_was_found) {
    outcome.held_back = true; /* buffering does not explain an expression that never matches */
    ss_iterations_mismatch(&iterations, "step\t1 done", 9 * SS_SECOND);
    ss_iterations_mismatch(&iterations, "step 2 done", 15 * SS_SECOND);
    take();
    assert_int_equal(outcome.warning_count, 1);
    assert_true(is_warned_of("no line of output matched --iteration: the first of 2 lines is"));
    assert_true(is_warned_of("1 done'"));
    assert_true(isnan(outcome.rate.per_second));
    assert_true(isnan(outcome.rate.bound));
    assert_near(outcome.iterations, 0, 0);
    assert_non_null(outcome.per_instance);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(outcome.per_instance[i].ended, 0);
        assert_true(isnan(outcome.per_instance[i].rate.bound));
    }
    assert_int_equal(outcome.per_command[0].ended, 0);
    assert_true(isnan(outcome.per_command[0].rate.per_second));
    assert_near(outcome.evidence.figures[SS_CHECK_ITERATIONS], 0, 0);
    assert_that(outcome.lines_unmatched, ==, 1); /* the first precedes the counted time */
    tear_down(state);
    set_up(state);
    ss_iterations_mismatch(&iterations, "heading", 15 * SS_SECOND);
    read_at(0, 1, 16000);
    take();
    assert_that(outcome.lines_unmatched, ==, 0);
}

OUTCOME_TEST(text_instead_of_a_time_and_few_iterations_cause_a_warning) {
    ss_iterations_untimed(&iterations, "done");
    ss_iterations_untimed(&iterations, "failed");
    for (uint32_t i = 0; i < 3; i++) {
        for (ss_time ms = 10100; ms <= (i < 2 ? 20000 : 14900); ms += 100)
            read_at(i, 1, ms);
    }
    take();
    assert_int_equal(outcome.warning_count, 2);
    assert_true(is_warned_of("only 49 iterations per instance ended"));
    assert_true(is_warned_of("the first group of --iteration matched 'done'"));
    assert_true(is_warned_of("2 of 249 iterations were measured from line to line"));
}

OUTCOME_TEST(silence_of_stopped_instances_is_not_blamed_on_buffering) {
    outcome.held_back = true;
    take();
    assert_int_equal(outcome.warning_count, 0);
    tear_down(state);
    set_up(state);
    take();
    assert_int_equal(outcome.warning_count, 1);
    assert_true(is_warned_of("--tty, or stdbuf -oL"));
}

OUTCOME_TEST(programs_that_end_early_are_named) {
    ss_ends_add(&outcome.ends, &(struct ss_end){.instance = 0, .seconds = 3});
    plan.has_iteration = false;
    take();
    assert_int_equal(outcome.warning_count, 1);
    assert_true(is_warned_of(
        "in 1 of 3 instances the program finished before the end of the run: --repeat"));
    outcome.warning_count = 0;
    outcome.ended_by = "workloads";
    take();
    assert_true(is_warned_of("the run ended before its duration of 10.00 s"));
    assert_true(is_warned_of("after 3.00 s: --repeat"));
    /* Without --duration, a run is expected to end with its programs. */
    outcome.warning_count = 0;
    plan.duration = SS_TIME_NEVER;
    take();
    assert_int_equal(outcome.warning_count, 0);
}

/* Takes the figures of a run, which cause one warning. */
static void take_samples(const struct ss_monitor *monitor, struct ss_usage *usage) {
    static struct ss_monitor taken;
    struct ss_board *board = ss_board_allocate(1, 0, false);
    assert_non_null(board);
    taken = *monitor;
    ss_outcome_open(&outcome);
    ss_outcome_take(
        &outcome, &(struct ss_outcome_input){
                      .plan = &plan, .board = board, .monitor = &taken, .usage = usage});
    assert_int_equal(outcome.warning_count, 1);
    free(board);
}

/* In half of the samples, no CPU was idle, and other processes used most of the time. */
TEST(use_of_the_cpus_explains_samples_off_target) {
    struct ss_monitor monitor = {.source = SS_SOURCE_SYSTEM,
        .doubts = {[SS_DOUBT_BELOW] = 5},
        .running = {[SS_DOUBT_BELOW] = 5}};
    struct ss_usage usage = {
        .sums = {[SS_DOUBT_BELOW] = {.capacity = 100, .instances = 30, .others = 69, .idle = 1}}};
    for (int i = 0; i < 10; i++)
        assert_true(ss_figures_add(&monitor.figures, 0.5, i < 5 ? 0.3 : 0.5));
    plan = (struct ss_plan){.instances = 1};
    take_samples(&monitor, &usage);
    assert_says(outcome.warnings[0], "50 % of the samples");
    assert_says(outcome.warnings[0], "other processes 69 %");
    ss_figures_free(&monitor.figures);
    ss_outcome_close(&outcome);
}

TEST(reason_for_no_sample_is_named) {
    static const struct {
        ss_time settle;
        uint32_t lost, lost_counted, free;
        enum ss_source source;
        const char *reason;
    } rows[] = {
        {0, 0, 0, 0, SS_SOURCE_SYSTEM, "under control for less than half a second"},
        {SS_SECOND, 1, 0, 0, SS_SOURCE_SYSTEM, "less than half a second after --settle"},
        {SS_SECOND, 1, 0, 2, SS_SOURCE_SYSTEM, "all were in `free` sections"},
        {SS_SECOND, 9, 9, 2, SS_SOURCE_SYSTEM, "9 were lost, because the machine was too busy"},
        {SS_SECOND, 9, 1, 2, SS_SOURCE_SENSOR, "or the sensor had printed no number yet"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ss_usage usage = {0};
        struct ss_monitor monitor = {.source = rows[i].source,
            .counted_from = SS_TIME_NEVER,
            .lost = rows[i].lost,
            .lost_counted = rows[i].lost_counted,
            .free_samples = rows[i].free};
        plan = (struct ss_plan){.instances = 1, .settle = rows[i].settle};
        take_samples(&monitor, &usage);
        assert_says(outcome.warnings[0], rows[i].reason);
        ss_outcome_close(&outcome);
    }
}

UNIT_RUN
