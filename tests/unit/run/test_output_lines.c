/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of the lines of output that end iterations. */

#include <stdlib.h>
#include <unistd.h>

#include "run/output.h"
#include "unit.h"

#define INTERVAL (100 * SS_MILLISECOND)

static struct ss_output output;
static struct ss_iterations iterations;
static struct ss_iteration latest;
static regex_t pattern;
static struct ss_board *board;
static FILE *target;
static int writer;
static ss_time now;

static void keep_latest(void *context, const struct ss_iteration *iteration) {
    (void)context;
    latest = *iteration;
}

/* The instance starts at 1000 s. */
static void open_output(const char *expression) {
    struct ss_error error = {0};
    int ends[2] = {-1, -1};
    now = 1000 * SS_SECOND;
    board = ss_board_allocate(1, 0);
    target = tmpfile();
    assert_true(board && target);
    assert_int_equal(regcomp(&pattern, expression, REG_EXTENDED), 0);
    iterations = (struct ss_iterations){.to = SS_TIME_NEVER, .tell = keep_latest};
    assert_int_equal(ss_iterations_keep_apart(&iterations, 1, 1), 0);
    ss_iterations_count_from(&iterations, now);
    ss_iterations_start(&iterations, 0, now);
    output = (struct ss_output){
        .instances = 1,
        .out = fileno(target),
        .pattern = &pattern,
        .iterations = &iterations,
        .board = board,
    };
    assert_int_equal(ss_output_open(&output, &error), 0);
    assert_int_equal(ss_output_add(&output, "0", ends, &error), 0);
    writer = ends[0];
}

static void close_output(void) {
    close(writer);
    ss_output_close(&output);
    ss_iterations_free(&iterations);
    regfree(&pattern);
    fclose(target);
    free(board);
}

/* Prints a line 100 ms after the previous one. Fails unless it ends an iteration of this length. */
static void assert_length(const char *line, ss_time length) {
    uint64_t seen = iterations.seen;
    now += INTERVAL;
    assert_int_equal(write(writer, line, strlen(line)), strlen(line));
    assert_int_equal(write(writer, "\n", 1), 1);
    ss_output_move(&output, 0, now);
    assert_int_equal(iterations.seen, seen + 1);
    assert_int_equal(latest.length, length);
}

static void iteration_lasts_as_long_as_its_line_says(void **state) {
    (void)state;
    open_output("^took (.*) ms");
    assert_length("took 5 ms", 5 * SS_MILLISECOND);
    assert_length("took 12.5 ms", 12500 * SS_MICROSECOND);
    assert_length("took  1e1\t ms", 10 * SS_MILLISECOND);
    assert_length("took 0 ms", 0);
    assert_int_equal(iterations.untimed, 0);
    close_output();
}

/* The digits after the group do not belong to it. */
static void time_ends_with_its_group(void **state) {
    (void)state;
    open_output("([0-9])[0-9]* ms");
    assert_length("876 ms", 8 * SS_MILLISECOND);
    close_output();
}

static void group_that_is_not_a_time_leaves_the_time_from_line_to_line(void **state) {
    (void)state;
    static const char *const lines[] = {"done request", "5 s request", "1,5 request", "-1 request",
        "inf request", "nan request", "0x10 request", "1e999 request", " request", "e request"};
    size_t count = sizeof lines / sizeof *lines;
    open_output("^(.*) request");
    for (size_t i = 0; i < count; i++)
        assert_length(lines[i], INTERVAL);
    assert_int_equal(iterations.untimed, count);
    assert_string_equal(iterations.untimed_example, "done");
    close_output();
}

static void group_that_is_absent_leaves_the_time_from_line_to_line(void **state) {
    (void)state;
    open_output("^done|took ([0-9]+) ms");
    assert_length("done", INTERVAL);
    assert_length("took 5 ms", 5 * SS_MILLISECOND);
    assert_int_equal(iterations.untimed, 0);
    close_output();
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(iteration_lasts_as_long_as_its_line_says),
    cmocka_unit_test(time_ends_with_its_group),
    cmocka_unit_test(group_that_is_not_a_time_leaves_the_time_from_line_to_line),
    cmocka_unit_test(group_that_is_absent_leaves_the_time_from_line_to_line))
