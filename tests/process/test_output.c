/* SPDX-License-Identifier: Apache-2.0 */

/* Output that programs buffer, and pseudo-terminals, which prevent that. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isolated.h"
#include "json_text.h"
#include "process.h"
#include "record.h"
#include "run.h"
#include "sandbox.h"
#include "terminal.h"

#define TICKS                                                                                      \
    "-n", "1", "-l", "100%", "-c", "fixed", "--json", "-", "--iteration", "^tick 0+1$", "--output"

#define OUTPUT_ALONE "-q", "-n", "1", "-l", "100%", "--tty"

/* The program fills blocks of 4096 bytes, each with the lines of 20 iterations of 25 ms. */
TEST_CASE(throughput_is_omitted_if_iterations_end_in_bursts) {
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    struct run *run =
        START("--record", record, TICKS, run_path(folder, "output"), PAYLOAD, "ticks", "25");
    record_interrupt_after(run, record, "iterations.csv", 40);
    double iterations = json_number(run->out.bytes, "iterations");
    ck_assert_double_ge(iterations, 19);
    ck_assert_double_ge(json_number(run->out.bytes, "iterations_in_bursts"), 19);
    ck_assert(json_is(run->out.bytes, "iterations_per_second", "null"));
    ck_assert(json_is(run->out.bytes, "mean", "null"));
    run_expect_text(&run->err, "iterations ended in bursts");
    run_expect_text(&run->err, "--tty");
    run_expect_text(&run->err, "stdbuf");
    run_expect_text(&run->err, "throughput         not measured");
}

static bool has_terminals(void) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal >= 0)
        close(terminal);
    return terminal >= 0;
}

#define SKIP_UNLESS_TERMINALS()                                                                    \
    SKIP_UNLESS(has_terminals(), "terminal: cannot open a pseudo-terminal")

/* The second line comes after a second; in a block, it would come with the twentieth. */
TEST_CASE(programs_write_lines_to_a_pseudo_terminal) {
    SKIP_UNLESS_TERMINALS();
    const char *folder = run_make_folder(), *record = run_path(folder, "record");
    const char *output = run_path(folder, "output");
    struct run *run = START("--tty", "--record", record, TICKS, output, PAYLOAD, "ticks", "1000");
    record_interrupt_after(run, record, "iterations.csv", 2);
    double iterations = json_number(run->out.bytes, "iterations");
    ck_assert_msg(iterations >= 2 && iterations < 19, "%s", run->out.bytes);
    struct run_text text = run_read_file(run_path(output, "0.out"));
    ck_assert_ptr_nonnull(strstr(text.bytes, "0001\ntick 000"));
}

/* The terminal adds no CR and echoes nothing, and ^C and ^D have no effect. */
TEST_CASE(with_tty_only_standard_output_is_a_terminal) {
    SKIP_UNLESS_TERMINALS();
    struct run *direct = CALL(PAYLOAD, "binary");
    struct run *run = SUCCEED(OUTPUT_ALONE, PAYLOAD, "binary");
    ck_assert_uint_eq(run->out.length, direct->out.length);
    ck_assert_mem_eq(run->out.bytes, direct->out.bytes, direct->out.length);
    run = SUCCEED(OUTPUT_ALONE, PAYLOAD, "output");
    run_expect_text(&run->err, "output 1 error 0 controlling 0\n");
    ck_assert_uint_eq(run->out.length, 0);
    /* With --output, standard error is forwarded through a pipe, as without --tty. */
    const char *folder = run_make_folder();
    run = SUCCEED(OUTPUT_ALONE, "--output", folder, PAYLOAD, "output");
    run_expect_file(run_path(folder, "0.err"), "output 1 error 0 controlling 0\n");
    SKIP_UNLESS_ISOLATED();
    run = SUCCEED(OUTPUT_ALONE, "--isolate", "-n", "2", PAYLOAD, "output");
    ck_assert_uint_eq(run_count_text(&run->err, "output 1 error 0 controlling 0\n"), 2);
}

static void run_to(const char *folder, int status) {
    struct run *run =
        RUN("-q", "-l", "100%", "-c", "fixed", "-n", "2", "--output", folder, PAYLOAD, "exit", "0");
    run_expect(run, status);
}

TEST_CASE(only_files_that_runs_have_written_are_replaced) {
    const char *folder = run_make_folder(), *other = run_path(folder, "1.out");
    run_write_file(other, "mine\n");
    run_write_file(run_path(folder, "2.out"), "of no instance\n");
    run_to(folder, 125);
    run_expect_file(other, "mine\n");
    ck_assert(!run_exists(run_path(folder, "0.out")));
    unlink(other);
    run_to(folder, 0);
    run_write_file(other, "of the run\n");
    run_to(folder, 0);
    run_expect_file(other, "");
}

TEST_CASE(repeated_instances_keep_their_pseudo_terminal) {
    SKIP_UNLESS_TERMINALS();
    const char *file = run_new_path("count");
    struct run *run = RUN(OUTPUT_ALONE, "--repeat", "sh", "-c",
        "echo x >>$0; [ -t 1 ] && echo terminal; [ $(wc -l <$0) -lt 3 ]", file);
    run_expect(run, 1);
    ck_assert_uint_eq(run_count_text(&run->out, "terminal\n"), 3);
}

static void hide_pseudo_terminals(void) {
    sandbox_leave_mounts();
    sandbox_mount_small("/dev/pts", "64k");
}

TEST_CASE(missing_pseudo_terminals_are_reported_before_the_start) {
    SKIP_UNLESS(sandbox_have_mounts(), "mounts: cannot create a mount namespace");
    const char *file = run_new_path("started");
    struct run_setup setup = {.prepare = hide_pseudo_terminals};
    struct run *run = RUN_IN(&setup, OUTPUT_ALONE, PAYLOAD, "touch", file);
    SKIP_UNLESS(run->status != SANDBOX_MISSING, "mounts: cannot create a mount namespace");
    run_expect_refusal(run, "showstopper: --tty: cannot create a pseudo-terminal: ");
    run_expect_text(&run->err, "devpts");
    ck_assert_uint_eq(run_count_text(&run->err, "\n"), 1);
    ck_assert_int_lt(access(file, F_OK), 0);
}

static char unread_name[TERMINAL_PATH]; /* prepare() has no argument */

static void print_to_unread(void) {
    int line = open(unread_name, O_RDWR | O_NOCTTY);
    if (line < 0 || dup2(line, STDOUT_FILENO) < 0)
        _exit(99);
}

/* The terminal has room for only a part of what showstopper reads at a time. */
TEST_CASE(a_terminal_that_is_not_read_blocks_only_the_instance) {
    struct run_setup setup = {.prepare = print_to_unread};
    terminal_make(unread_name);
    struct run *run = RUN_IN(&setup, "-q", "-n", "1", "-f", "own", "-l", "100%", "-c", "fixed",
        "--duration", "2s", "--iteration", "^xx", "sh", "-c",
        "yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | head -c 400000; sleep 30");
    run_expect(run, 125); /* output is lost */
}
