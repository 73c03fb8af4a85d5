/* SPDX-License-Identifier: Apache-2.0 */

/* Runs at a terminal: keys, job control of a real shell, and a terminal that is closed. */

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "json_text.h"
#include "process.h"
#include "run.h"
#include "terminal.h"

#define TWO "-v -n 2 -l 50% -c fixed "

/* Several rounds of control: longer than any controlled process keeps its state. */
#define STANDSTILL 0.6 /* seconds */

/* Returns whether all have been stopped since `since`, which is advanced if one is not. */
static bool stand_still(const pid_t *pids, size_t count, double *since) {
    for (size_t i = 0; i < count; i++) {
        if (run_state(pids[i]) == 'R')
            *since = run_now();
    }
    return run_now() > *since + STANDSTILL;
}

static void find_instances(struct terminal *terminal, pid_t pids[RUN_PIDS_MAX], size_t count) {
    RUN_UNTIL(terminal->run, run_named("payload", pids) == count);
}

START_TEST(ctrl_z_stops_and_fg_continues) {
    run_greedily();
    pid_t pids[RUN_PIDS_MAX];
    struct terminal *terminal = terminal_open_shell();
    pid_t master = terminal_start_run(terminal, TWO "payload spin");
    find_instances(terminal, pids, 2);
    pids[2] = master;
    terminal_stop_run(terminal);
    double since = run_now();
    RUN_UNTIL(terminal->run, stand_still(pids, 3, &since));
    terminal_type(terminal, "fg\n");
    for (int i = 0; i < 2; i++)
        RUN_UNTIL(terminal->run, run_state(pids[i]) != 'T');
    RUN_UNTIL(terminal->run, run_state(master) != 'T');
    terminal_type(terminal, TERMINAL_CTRL_C);
    terminal_wait_prompt(terminal);
    ck_assert_int_eq(terminal_status(terminal), 128 + SIGINT);
    terminal_leave_shell(terminal);
    run_expect_no_shared_memory(master);
}
END_TEST

/*
 * Instances ignore the signals that the kernel sends to orphaned groups, so we must have ended
 * them.
 */
START_TEST(a_stopped_run_can_be_killed) {
    struct terminal *terminal = terminal_open_shell();
    pid_t master = terminal_start_run(terminal, TWO "payload ignore-term");
    terminal_wait_ready(terminal, 2);
    terminal_stop_run(terminal);
    terminal_command(terminal, "kill -9 %1");
    terminal_leave_shell(terminal);
    run_expect_no_shared_memory(master);
}
END_TEST

/* The shell itself continues a job that it ends, and may exit before that job. */
START_TEST(a_stopped_run_can_be_terminated) {
    struct terminal *terminal = terminal_open_shell();
    pid_t master = terminal_start_run(terminal, TWO "payload spin");
    terminal_stop_run(terminal);
    terminal_command(terminal, "kill %1");
    terminal_command(terminal, "fg");
    terminal_leave_shell(terminal);
    run_expect_no_shared_memory(master);
}
END_TEST

/* Ctrl-Z also reaches executors that were just forked; once continued, the run must proceed. */
START_TEST(ctrl_z_stops_a_run_during_its_start) {
    static const size_t moments[] = {1, 10, 20, 30, 40, 50};
    pid_t pids[RUN_PIDS_MAX];
    struct terminal *terminal = terminal_open_shell();
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        terminal_type(terminal, "showstopper -q -v -n 60 -l 50% -c fixed payload spin\n");
        RUN_UNTIL(terminal->run, run_named("ss-executor", pids) >= moments[i]);
        terminal_stop_run(terminal);
        find_instances(terminal, pids, 60);
        double since = run_now();
        RUN_UNTIL(terminal->run, stand_still(pids, 60, &since));
        pid_t master = run_find(terminal->run, "showstopper");
        terminal_type(terminal, "fg\n");
        RUN_UNTIL(terminal->run, run_state(master) != 'T');
        RUN_UNTIL(terminal->run, run_count_text(&terminal->run->out, "all instances run") == i + 1);
        terminal_type(terminal, TERMINAL_CTRL_C);
        terminal_wait_prompt(terminal);
        ck_assert_int_eq(terminal_status(terminal), 128 + SIGINT);
        terminal_expect_only_shell(terminal);
    }
    terminal_leave_shell(terminal);
}
END_TEST

/* Without a shell nothing could continue the run: the kernel does not stop an orphaned group. */
START_TEST(ctrl_z_without_a_shell_does_not_stop_the_run) {
    pid_t pids[RUN_PIDS_MAX];
    struct terminal *terminal = terminal_open(WORDS(SHOWSTOPPER, "-v", "-n", "2", "-l", "100%",
        "-c", "fixed", "--grace", "30s", PAYLOAD, "catch"));
    terminal_wait(terminal, "instances run");
    terminal_wait_ready(terminal, 2);
    find_instances(terminal, pids, 2);
    terminal_type(terminal, TERMINAL_CTRL_Z);
    terminal_wait(terminal, "^Z");
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
    ck_assert_uint_eq(run_count_text(&terminal->run->out, "caught 2"), 2);
    run_expect_nothing_left();
    terminal_free(terminal);
}
END_TEST

static void expect_nothing_without_terminal(struct terminal *terminal, pid_t master) {
    terminal_hang_up(terminal);
    run_expect_nothing_left();
    run_expect_no_shared_memory(master);
    run_wait(terminal->run);
    terminal_free(terminal);
}

START_TEST(a_closed_terminal_ends_the_run) {
    struct terminal *terminal = terminal_open_shell();
    expect_nothing_without_terminal(terminal, terminal_start_run(terminal, TWO "payload spin"));
}
END_TEST

START_TEST(a_closed_terminal_ends_instances_that_ignore_sigterm) {
    struct terminal *terminal = terminal_open_shell();
    pid_t master = terminal_start_run(terminal, TWO "--grace 100m payload ignore-term");
    terminal_wait_ready(terminal, 2);
    expect_nothing_without_terminal(terminal, master);
}
END_TEST

START_TEST(a_closed_terminal_ends_a_background_run) {
    struct terminal *terminal = terminal_open_shell();
    expect_nothing_without_terminal(terminal, terminal_start_run(terminal, TWO "payload spin &"));
}
END_TEST

START_TEST(a_closed_terminal_ends_a_stopped_run) {
    struct terminal *terminal = terminal_open_shell();
    pid_t master = terminal_start_run(terminal, TWO "payload spin");
    terminal_stop_run(terminal);
    expect_nothing_without_terminal(terminal, master);
}
END_TEST

START_TEST(a_terminal_closed_without_a_shell_ends_the_run) {
    struct terminal *terminal = terminal_open(
        WORDS(SHOWSTOPPER, "-v", "-n", "2", "-l", "50%", "-c", "fixed", PAYLOAD, "spin"));
    terminal_wait(terminal, "instances run");
    terminal_hang_up(terminal);
    run_expect_nothing_left();
    run_expect(run_wait(terminal->run), -SIGHUP);
    run_expect_no_shared_memory(terminal->run->pid);
    terminal_free(terminal);
}
END_TEST

static void kill_shell(struct terminal *terminal, pid_t master) {
    kill(terminal->run->pid, SIGKILL);
    run_expect_nothing_left();
    run_expect_no_shared_memory(master);
    terminal_free(terminal);
}

/* The kernel then sends SIGHUP to the foreground job. */
START_TEST(a_killed_shell_ends_the_run) {
    struct terminal *terminal = terminal_open_shell();
    kill_shell(terminal, terminal_start_run(terminal, TWO "payload spin"));
}
END_TEST

/* The kernel sends SIGHUP to stopped jobs once no shell is left that could continue them. */
START_TEST(a_killed_shell_ends_a_stopped_run) {
    struct terminal *terminal = terminal_open_shell();
    pid_t master = terminal_start_run(terminal, TWO "payload spin");
    terminal_stop_run(terminal);
    kill_shell(terminal, master);
}
END_TEST

/* The shell refuses the first time and warns. */
START_TEST(an_exiting_shell_ends_a_stopped_run) {
    struct terminal *terminal = terminal_open_shell();
    pid_t master = terminal_start_run(terminal, TWO "payload spin");
    terminal_stop_run(terminal);
    terminal_type(terminal, "exit\n");
    terminal_wait_prompt(terminal);
    terminal_type(terminal, "exit\n");
    run_wait(terminal->run);
    run_expect_nothing_left();
    run_expect_no_shared_memory(master);
    terminal_free(terminal);
}
END_TEST

/* A shell that exits does not signal its background jobs: they reach their planned end. */
START_TEST(background_run_outlives_its_shell) {
    char line[512];
    const char *folder = run_make_folder();
    const char *summary = run_path(folder, "summary");
    struct terminal *terminal = terminal_open_shell();
    snprintf(line, sizeof line, "%s --duration 10s --json %s payload spin &", TWO, summary);
    pid_t master = terminal_start_run(terminal, line);
    terminal_type(terminal, "exit\n");
    run_wait(terminal->run);
    terminal_hang_up(terminal);
    RUN_UNTIL(NULL, run_exists(summary));
    run_expect_nothing_left();
    run_expect_no_shared_memory(master);
    const char *text = run_read_file(summary).bytes;
    ck_assert_msg(json_is(text, "ended_by", "\"duration\""), "%s", text);
    terminal_free(terminal);
    run_remove_folder(folder);
}
END_TEST

static void end_by_key(const char *key, int number) {
    char caught[32];
    struct terminal *terminal = terminal_open_shell();
    pid_t master = terminal_start_run(terminal, TWO "payload spin");
    terminal_type(terminal, key);
    terminal_wait_prompt(terminal);
    ck_assert_int_eq(terminal_status(terminal), 128 + number);
    terminal_expect_only_shell(terminal);
    run_expect_no_shared_memory(master);
    master = terminal_start_run(terminal, TWO "--grace 100m payload ignore-term");
    terminal_wait_ready(terminal, 2);
    terminal_type(terminal, key);
    terminal_wait_prompt(terminal);
    ck_assert_int_eq(terminal_status(terminal), 128 + number);
    terminal_expect_only_shell(terminal);
    run_expect_no_shared_memory(master);
    terminal_start_run(terminal, TWO "--grace 30s payload catch");
    terminal_wait_ready(terminal, 4);
    terminal_type(terminal, key);
    terminal_wait_prompt(terminal);
    ck_assert_int_eq(terminal_status(terminal), 128 + number);
    snprintf(caught, sizeof caught, "caught %d", number);
    ck_assert_uint_eq(run_count_text(&terminal->run->out, caught), 2);
    terminal_leave_shell(terminal);
}

START_TEST(ctrl_c_ends_the_run) {
    end_by_key(TERMINAL_CTRL_C, SIGINT);
}
END_TEST

START_TEST(ctrl_backslash_ends_the_run) {
    end_by_key(TERMINAL_CTRL_BACKSLASH, SIGQUIT);
}
END_TEST

START_TEST(the_shell_gets_the_status_of_the_signal) {
    struct terminal *terminal = terminal_open_shell();
    const char *line = "showstopper -q -n 1 -l 50% -c fixed payload exit 7";
    ck_assert_int_eq(terminal_command(terminal, line), 7);
    line = "showstopper -q -n 1 -l 50% -c fixed payload signal 15";
    ck_assert_int_eq(terminal_command(terminal, line), 128 + SIGTERM);
    pid_t master = terminal_start_run(terminal, TWO "payload spin");
    kill(master, SIGTERM);
    terminal_wait_prompt(terminal);
    ck_assert_int_eq(terminal_status(terminal), 128 + SIGTERM);
    terminal_leave_shell(terminal);
    run_expect_no_shared_memory(master);
}
END_TEST

START_TEST(sigterm_ends_a_shell_loop) {
    struct terminal *terminal = terminal_open_shell();
    terminal_type(terminal, "while showstopper " TWO "payload spin; do :; done\n");
    terminal_wait(terminal, "instances run");
    pid_t master = run_find(terminal->run, "showstopper");
    kill(master, SIGTERM);
    terminal_wait_prompt(terminal);
    terminal_leave_shell(terminal);
    run_expect_no_shared_memory(master);
}
END_TEST

/* A shell continues its loop if a program exits with this status instead of dying by the signal. */
START_TEST(ctrl_c_ends_a_shell_loop) {
    struct terminal *terminal = terminal_open_shell();
    terminal_type(terminal, "while :; do showstopper " TWO "payload spin; done\n");
    terminal_wait(terminal, "instances run");
    pid_t master = run_find(terminal->run, "showstopper");
    terminal_type(terminal, TERMINAL_CTRL_C);
    terminal_wait_prompt(terminal);
    terminal_leave_shell(terminal);
    run_expect_no_shared_memory(master);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(ctrl_z_stops_and_fg_continues),
    SS_CASE(a_stopped_run_can_be_killed),
    SS_CASE(a_stopped_run_can_be_terminated),
    SS_CASE(ctrl_z_stops_a_run_during_its_start),
    SS_CASE(ctrl_z_without_a_shell_does_not_stop_the_run),
    SS_CASE(a_closed_terminal_ends_the_run),
    SS_CASE(a_closed_terminal_ends_instances_that_ignore_sigterm),
    SS_CASE(a_closed_terminal_ends_a_background_run),
    SS_CASE(a_closed_terminal_ends_a_stopped_run),
    SS_CASE(a_terminal_closed_without_a_shell_ends_the_run),
    SS_CASE(a_killed_shell_ends_the_run),
    SS_CASE(a_killed_shell_ends_a_stopped_run),
    SS_CASE(an_exiting_shell_ends_a_stopped_run),
    SS_CASE(background_run_outlives_its_shell),
    SS_CASE(ctrl_c_ends_the_run),
    SS_CASE(ctrl_backslash_ends_the_run),
    SS_CASE(the_shell_gets_the_status_of_the_signal),
    SS_CASE(sigterm_ends_a_shell_loop),
    SS_CASE(ctrl_c_ends_a_shell_loop))
/* clang-format on */
