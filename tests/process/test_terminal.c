/* SPDX-License-Identifier: Apache-2.0 */

/* Runs at a terminal: keys, job control of a real shell, and a terminal that is closed. */

#include <signal.h>
#include <string.h>

#include "family.h"
#include "isolated.h"
#include "json_text.h"
#include "terminal.h"

#define TWO "-v -n 2 -l 50% -c fixed "

/* Types the rest of a command line with two instances, and waits until they run. */
static void start_run(struct terminal *terminal, bool isolated, const char *rest) {
    terminal_type(terminal, isolated ? "showstopper --isolate " TWO : "showstopper " TWO);
    terminal_type(terminal, rest);
    terminal_type(terminal, "\n");
    terminal_wait(terminal, "instances are running");
}

static pid_t find_master(struct terminal *terminal, bool isolated) {
    return isolated ? isolated_showstopper(terminal->run, true)
                    : run_find(terminal->run, "showstopper");
}

static struct family find_instances(struct terminal *terminal, size_t count) {
    struct family family;
    RUN_UNTIL(terminal->run, (family = family_find("payload")).count == count);
    return family;
}

/* Waits until all have been stopped for longer than any controlled process keeps its state. */
static void wait_for_standstill(struct terminal *terminal, const struct family *family) {
    double since = run_now();
    RUN_UNTIL(terminal->run,
        (since = family_count(family, 'R') > 0 ? run_now() : since, run_now() > since + 0.6));
}

/* Fails unless the shell gets this status, and nothing but the shell is left. */
static void expect_only_shell(struct terminal *terminal, int status) {
    terminal_wait_prompt(terminal);
    ck_assert_int_eq(terminal_status(terminal), status);
    terminal_expect_only_shell(terminal);
}

static void stop_and_continue(bool isolated, int times, bool stands_still) {
    struct terminal *terminal = terminal_open_shell();
    start_run(terminal, isolated, "payload spin");
    pid_t master = find_master(terminal, isolated);
    struct family instances = find_instances(terminal, 2);
    for (int i = 0; i < times; i++) {
        terminal_stop_run(terminal);
        if (stands_still) {
            wait_for_standstill(terminal, &instances);
            RUN_UNTIL(terminal->run, run_state(master) == 'T');
        }
        terminal_type(terminal, "fg\n");
        RUN_UNTIL(terminal->run, run_state(master) != 'T');
        family_expect_to_run(terminal->run, &instances, 0.01);
    }
    terminal_type(terminal, TERMINAL_CTRL_C);
    expect_only_shell(terminal, 128 + SIGINT);
    terminal_leave_shell(terminal);
}

TEST_CASE(ctrl_z_stops_and_fg_continues) {
    run_greedily();
    for (EACH_MODE(isolated))
        stop_and_continue(isolated, 2, true);
}

/* The shell prompts as soon as the process that it knows has stopped. */
TEST_CASE(fg_right_after_ctrl_z_continues_the_run) {
    for (EACH_MODE(isolated))
        stop_and_continue(isolated, 4, false);
}

/*
 * The shell itself continues a job that it ends, and may exit before that job. Instances ignore the
 * signals that the kernel sends to orphaned groups, so we must have ended them.
 */
TEST_CASE(a_stopped_run_can_be_ended_and_killed) {
    for (EACH_MODE(isolated)) {
        for (const char *const *how = WORDS("kill %1", "kill -9 %1"); *how; how++) {
            struct terminal *terminal = terminal_open_shell();
            start_run(terminal, isolated, "--grace 100m payload ignore-term");
            terminal_wait_ready(terminal, 2);
            terminal_stop_run(terminal);
            terminal_command(terminal, *how);
            terminal_command(terminal, "fg");
            terminal_leave_shell(terminal);
        }
    }
}

/* Ctrl-Z also reaches executors that were just forked; once continued, the run must proceed. */
TEST_CASE(ctrl_z_stops_a_run_during_its_start) {
    static const size_t moments[] = {1, 10, 20, 30, 40, 50};
    struct terminal *terminal = terminal_open_shell();
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        terminal_type(terminal, "showstopper -q -v -n 60 -l 50% -c fixed payload spin\n");
        RUN_UNTIL(terminal->run, family_find("ss-executor").count >= moments[i]);
        terminal_stop_run(terminal);
        struct family instances = find_instances(terminal, 60);
        wait_for_standstill(terminal, &instances);
        pid_t master = run_find(terminal->run, "showstopper");
        terminal_type(terminal, "fg\n");
        RUN_UNTIL(terminal->run, run_state(master) != 'T');
        RUN_UNTIL(terminal->run,
            run_count_text(&terminal->run->out, "all instances are running") == i + 1);
        terminal_type(terminal, TERMINAL_CTRL_C);
        expect_only_shell(terminal, 128 + SIGINT);
    }
    terminal_leave_shell(terminal);
}

#define CATCHING "-v", "-n", "2", "-l", "100%", "-c", "fixed", "--grace", "30s", PAYLOAD, "catch"

/* Without a shell nothing could continue the run: the kernel does not stop an orphaned group. */
TEST_CASE(ctrl_z_without_a_shell_does_not_stop_the_run) {
    for (EACH_MODE(isolated)) {
        struct terminal *terminal =
            terminal_open(WORDS(SHOWSTOPPER, isolated ? "--isolate" : "-v", CATCHING));
        terminal_wait(terminal, "instances are running");
        terminal_wait_ready(terminal, 2);
        pid_t master = find_master(terminal, isolated);
        terminal_type(terminal, TERMINAL_CTRL_Z);
        terminal_wait(terminal, "^Z");
        run_let_pass(terminal->run, 0.5);
        RUN_UNTIL(terminal->run, run_state(master) != 'T');
        terminal_type(terminal, TERMINAL_CTRL_C);
        run_expect(run_wait(terminal->run), -SIGINT);
        ck_assert_uint_eq(run_count_text(&terminal->run->out, "caught 2"), 2);
        run_expect_nothing_left();
    }
}

TEST_CASE(a_closed_terminal_ends_the_run) {
    static const struct {
        const char *rest;
        bool isolated, stopped;
    } rows[] = {
        {"payload spin", false, false},
        {"payload spin", false, true},
        {"payload spin &", false, false},
        {"--grace 100m payload ignore-term", false, false},
        {"payload spin", true, false},
        {"payload spin", true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct terminal *terminal = terminal_open_shell();
        isolated_need(rows[i].isolated);
        start_run(terminal, rows[i].isolated, rows[i].rest);
        if (strstr(rows[i].rest, "ignore"))
            terminal_wait_ready(terminal, 2);
        if (rows[i].stopped)
            terminal_stop_run(terminal);
        terminal_hang_up(terminal);
        run_expect_nothing_left();
        run_wait(terminal->run);
    }
}

/* The process that the terminal knows leads the session, so it alone gets SIGHUP. */
TEST_CASE(a_terminal_closed_without_a_shell_ends_the_run) {
    for (EACH_MODE(isolated)) {
        struct terminal *terminal =
            terminal_open(WORDS(SHOWSTOPPER, isolated ? "--isolate" : "-v", CATCHING));
        terminal_wait(terminal, "instances are running");
        terminal_hang_up(terminal);
        run_expect_nothing_left();
        run_expect(run_wait(terminal->run), -SIGHUP);
    }
}

/* The kernel sends SIGHUP to the foreground job, and to stopped jobs that no shell can continue. */
TEST_CASE(a_killed_shell_ends_the_run) {
    for (EACH_MODE(isolated)) {
        for (int stopped = 0; stopped < 2; stopped++) {
            struct terminal *terminal = terminal_open_shell();
            start_run(terminal, isolated, "payload spin");
            if (stopped)
                terminal_stop_run(terminal);
            kill(terminal->run->pid, SIGKILL);
            run_expect_nothing_left();
            terminal_free(terminal);
        }
    }
}

/* A shell that exits does not signal its background jobs: they reach their planned end. */
TEST_CASE(background_run_outlives_its_shell) {
    const char *summary = run_new_path("summary");
    struct terminal *terminal = terminal_open_shell();
    const char *rest = run_format("--duration 4s --json %s payload spin &", summary);
    start_run(terminal, false, rest);
    terminal_type(terminal, "exit\n");
    run_wait(terminal->run);
    terminal_hang_up(terminal);
    RUN_UNTIL(NULL, run_exists(summary));
    const char *text = run_read_file(summary).bytes;
    ck_assert_msg(json_is(text, "ended_by", "\"duration\""), "%s", text);
}

/* Instances that spin, that ignore the signal, and that catch it. */
static void end_by_key(bool isolated, const char *key, int number) {
    static const char *const rests[] = {
        "payload spin", "--grace 100m payload ignore-term", "--grace 30s payload catch"};
    const char *caught = run_format("caught %d", number);
    struct terminal *terminal = terminal_open_shell();
    for (size_t i = isolated ? 2 : 0; i < sizeof rests / sizeof *rests; i++) {
        start_run(terminal, isolated, rests[i]);
        if (i > 0)
            terminal_wait_ready(terminal, isolated ? 2 : 2 * i);
        terminal_type(terminal, key);
        expect_only_shell(terminal, 128 + number);
    }
    ck_assert_uint_eq(run_count_text(&terminal->run->out, caught), 2);
    terminal_leave_shell(terminal);
}

TEST_CASE(ctrl_c_and_ctrl_backslash_end_the_run) {
    for (EACH_MODE(isolated)) {
        end_by_key(isolated, TERMINAL_CTRL_C, SIGINT);
        end_by_key(isolated, TERMINAL_CTRL_BACKSLASH, SIGQUIT);
    }
}
