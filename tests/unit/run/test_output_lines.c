/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of the lines of output that end iterations. */

#include <fcntl.h>
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

static ss_time own_wait;

static ss_time read_own_wait(void) {
    return own_wait;
}

/* The instance starts at 1000 s, and runs all the time. */
static void open_output(const char *expression) {
    struct ss_error error = {0};
    int ends[2] = {-1, -1};
    now = 1000 * SS_SECOND;
    own_wait = 0;
    board = ss_board_allocate(1, 0, false);
    target = tmpfile();
    assert_true(board && target);
    atomic_store(&board->rows[0].local_duty, ss_word_from_double(1));
    assert_int_equal(regcomp(&pattern, expression, REG_EXTENDED), 0);
    iterations = (struct ss_iterations){.to = SS_TIME_NEVER, .on_add = keep_latest};
    assert_int_equal(ss_iterations_keep_apart(&iterations, 1, 1), 0);
    ss_iterations_count_from(&iterations, now);
    ss_iterations_start(&iterations, 0, now);
    output = (struct ss_output){
        .instances = 1,
        .out = fileno(target),
        .pattern = &pattern,
        .iterations = &iterations,
        .board = board,
        .own_wait = read_own_wait,
    };
    assert_int_equal(ss_output_open(&output, &error), 0);
    assert_int_equal(ss_output_add(&output, ends, &error), 0);
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

TEST(iteration_lasts_as_long_as_its_line_says) {
    open_output("^done|took (.*) ms");
    assert_length("took 5 ms", 5 * SS_MILLISECOND);
    assert_length("took 12.5 ms", 12500 * SS_MICROSECOND);
    assert_length("took  1e1\t ms", 10 * SS_MILLISECOND);
    assert_length("took 0 ms", 0);
    assert_length("done", INTERVAL);
    assert_int_equal(iterations.untimed, 0);
    close_output();
    open_output("([0-9])[0-9]* ms"); /* the digits after the group do not belong to it */
    assert_length("876 ms", 8 * SS_MILLISECOND);
    close_output();
}

/* A pattern with $ does not match where the buffer is full. */
TEST(line_that_is_cut_does_not_end_there) {
    char line[5001];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    open_output("x$");
    assert_length("x", INTERVAL);
    assert_int_equal(write(writer, line, strlen(line)), strlen(line));
    ss_output_move(&output, 0, now);
    ss_output_move(&output, 0, now);
    assert_length("y\nx", INTERVAL);
    close_output();
}

TEST(group_that_is_not_a_time_means_the_time_from_line_to_line) {
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

/* Reads three lines at once, a second after the previous ones. Returns how many are in bursts. */
static uint64_t read_three(void) {
    uint64_t before = ss_iterations_in_bursts(&iterations, 0, 1);
    now += SS_SECOND;
    assert_int_equal(write(writer, "x\nx\nx\n", 6), 6);
    ss_output_move(&output, 0, now);
    return ss_iterations_in_bursts(&iterations, 0, 1) - before;
}

TEST(lines_read_together_because_the_reader_waited_for_a_cpu_are_not_a_burst) {
    open_output("^x");
    assert_int_equal(read_three(), 3);
    own_wait += 800 * SS_MILLISECOND;
    assert_int_equal(read_three(), 0);
    own_wait += 700 * SS_MILLISECOND;
    assert_int_equal(read_three(), 3);
    own_wait = SS_TIME_NEVER; /* the kernel does not count it */
    assert_int_equal(read_three(), 3);
    assert_int_equal(read_three(), 3);
    close_output();
}

TEST(lines_read_together_because_the_target_was_full_are_not_a_burst) {
    static char chunk[65536];
    int ends[2];
    open_output("^x");
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    output.streams[0].to = ends[1];
    while (write(ends[1], chunk, sizeof chunk) > 0) {
    }
    ss_output_move(&output, 0, now);
    now += SS_SECOND;
    ss_output_move(&output, 0, now); /* still no room */
    assert_int_equal(iterations.seen, 0);
    while (read(ends[0], chunk, sizeof chunk) > 0) {
    }
    assert_int_equal(read_three(), 0);
    assert_int_equal(iterations.seen, 3);
    assert_int_equal(read_three(), 3);
    output.streams[0].to = fileno(target);
    close(ends[0]);
    close(ends[1]);
    close_output();
}

TEST(lines_read_together_because_the_reader_was_busy_are_not_a_burst) {
    open_output("^x");
    ss_output_wait_ends(&output, now);
    ss_output_wait_begins(&output, now + 800 * SS_MILLISECOND);
    assert_int_equal(read_three(), 0);
    assert_int_equal(read_three(), 3);
    ss_output_wait_ends(&output, now);
    ss_output_pause(&output, 800 * SS_MILLISECOND);
    ss_output_wait_begins(&output, now + 850 * SS_MILLISECOND);
    assert_int_equal(read_three(), 3);
    ss_output_wait_ends(&output, now);
    ss_output_wait_begins(&output, now + 700 * SS_MILLISECOND);
    own_wait += 700 * SS_MILLISECOND; /* within the same time */
    assert_int_equal(read_three(), 3);
    close_output();
}

UNIT_RUN
