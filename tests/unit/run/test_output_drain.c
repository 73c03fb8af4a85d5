/* SPDX-License-Identifier: Apache-2.0 */

/* Tests of the output that instances have left when a run ends. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../../full.h"
#include "platform/platform.h"
#include "run/output.h"
#include "tree.h"
#include "unit.h"

/* A drain that does not return is killed after this many seconds. */
#define HANG 240

static struct ss_output output;
static int writer;

static void open_output(int target) {
    struct ss_error error = {0};
    int ends[2] = {-1, -1};
    output = (struct ss_output){.instances = 1, .out = target};
    assert_int_equal(ss_output_open(&output, &error), 0);
    assert_int_equal(ss_output_add(&output, ends, &error), 0);
    writer = ends[0];
}

static void drain(void) {
    alarm(HANG);
    ss_output_drain(&output, ss_platform_now());
    alarm(0);
}

/* Writes until the pipe is full. Returns the number of bytes. */
static size_t fill(int pipe) {
    static const char text[SS_OUTPUT_CHUNK_SIZE];
    size_t sum = 0;
    ssize_t length;
    fcntl(pipe, F_SETFL, O_NONBLOCK);
    while ((length = write(pipe, text, sizeof text)) > 0)
        sum += (size_t)length;
    return sum;
}

static size_t size_of(FILE *target) {
    struct stat status;
    assert_int_equal(fstat(fileno(target), &status), 0);
    return (size_t)status.st_size;
}

/* /dev/zero is a writer that is never done. */
TEST(endless_output_is_moved_in_part) {
    FILE *target = tmpfile();
    assert_non_null(target);
    open_output(fileno(target));
    int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    assert_that(dup2(zeros, output.streams[0].from), >=, 0);
    close(zeros);
    drain();
    assert_int_equal(size_of(target), SS_OUTPUT_DRAIN_MAX);
    assert_false(output.failed);
    close(writer);
    ss_output_close(&output);
    fclose(target);
}

TEST(output_of_a_writer_that_has_ended_is_moved_entirely) {
    FILE *target = tmpfile();
    assert_non_null(target);
    open_output(fileno(target));
    fcntl(writer, F_SETPIPE_SZ, 4 * SS_OUTPUT_DRAIN_MAX); /* if permitted */
    size_t written = fill(writer);
    close(writer);
    drain();
    assert_int_equal(size_of(target), written);
    assert_int_equal(output.streams[0].from, -1);
    assert_false(output.failed);
    ss_output_close(&output);
    fclose(target);
}

/* The output of the first instance cannot be written; that of the second one can. */
TEST(failed_output_does_not_affect_other_instances) {
    SKIP_UNLESS_FULL();
    struct ss_error error = {0};
    const char *folder = tree_new();
    char *numbers[] = {(char *)"0", (char *)"1"};
    output = (struct ss_output){
        .instances = 2, .folder = folder, .numbers = numbers, .forwards_errors = true};
    if (mknod(tree_path("0.out"), S_IFCHR | 0600, makedev(1, 7)) < 0)
        skip(); /* links are not followed there, and only root makes devices */
    assert_int_equal(ss_output_open(&output, &error), 0);
    for (int i = 0; i < 2; i++) {
        int ends[2];
        assert_int_equal(ss_output_add(&output, ends, &error), 0);
        for (int which = 0; which < 2; which++) {
            assert_int_equal(write(ends[which], "text\n", 5), 5);
            close(ends[which]);
        }
    }
    drain();
    assert_true(output.failed);
    assert_int_equal(output.err, ENOSPC);
    ss_output_close(&output);
    static const char *const others[] = {"0.err", "1.out", "1.err"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct stat status;
        assert_int_equal(stat(tree_path(others[i]), &status), 0);
        assert_int_equal(status.st_size, 5);
    }
}

TEST(stalled_reader_loses_output) {
    int target[2];
    assert_int_equal(pipe2(target, O_CLOEXEC), 0);
    fill(target[1]);
    open_output(target[1]);
    fill(writer);
    close(writer);
    drain();
    assert_true(output.failed);
    assert_int_equal(output.err, EAGAIN);
    ss_output_close(&output);
    close(target[0]);
    close(target[1]);
}

/* Opens a terminal whose line is the target of the output. Returns the end that reads. */
static int open_terminal(int *line) {
    int reader = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    SKIP_UNLESS(reader >= 0, "terminal: cannot open a pseudo-terminal");
    assert_true(grantpt(reader) == 0 && unlockpt(reader) == 0);
    *line = open(ptsname(reader), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_that(*line, >=, 0);
    open_output(*line);
    assert_that(output.streams[0].to, !=, *line);
    return reader;
}

static void close_terminal(int reader, int line) {
    ss_output_close(&output);
    close(reader);
    close(line);
}

/* The terminal takes what fits, which need not be a whole chunk. */
TEST(unread_terminal_does_not_block) {
    int line, reader = open_terminal(&line);
    alarm(HANG);
    while (!output.streams[0].full) {
        fill(writer);
        ss_output_move(&output, 0, ss_platform_now());
    }
    fill(writer);
    close(writer);
    drain();
    assert_true(output.failed);
    assert_int_equal(output.err, EAGAIN);
    close_terminal(reader, line);
}

TEST(output_to_a_slow_terminal_is_complete) {
    char text[1000];
    size_t written = 0, received = 0;
    int line, reader = open_terminal(&line);
    alarm(HANG);
    while (written < 4 * SS_OUTPUT_DRAIN_MAX || received < written) {
        if (written < 4 * SS_OUTPUT_DRAIN_MAX)
            written += fill(writer);
        ss_output_move(&output, 0, ss_platform_now());
        ssize_t length = output.streams[0].full || written >= 4 * SS_OUTPUT_DRAIN_MAX
                             ? read(reader, text, sizeof text)
                             : 0;
        received += length > 0 ? (size_t)length : 0;
    }
    alarm(0);
    assert_int_equal(received, written);
    close(writer);
    drain();
    assert_false(output.failed);
    close_terminal(reader, line);
}

UNIT_RUN
