/* SPDX-License-Identifier: Apache-2.0 */

/* Runs in their own PID namespace at a terminal. */

#include "family.h"
#include "isolated.h"
#include "surroundings.h"
#include "terminal.h"

#define LINE "showstopper --isolate -v -n 2 -l 50% -c fixed "

static struct isolated_run start(struct terminal *terminal, const char *line) {
    terminal_type(terminal, line);
    terminal_type(terminal, "\n");
    terminal_wait(terminal, "instances run");
    return isolated_find(terminal->run);
}

static void expect_only_shell(
    struct terminal *terminal, const struct isolated_run *isolated, int status) {
    pid_t pids[RUN_PIDS_MAX];
    terminal_wait_prompt(terminal);
    ck_assert_int_eq(terminal_status(terminal), status);
    terminal_expect_only_shell(terminal);
    RUN_UNTIL(terminal->run, isolated_members(isolated->space, "", pids) == 0);
}

/*
 * Returns whether all have been stopped for several rounds of control, longer than any process
 * under control stays stopped.
 */
static bool stand_still(const struct family *family, double *since) {
    if (family_count(family, 'T') < family->count)
        *since = run_now();
    return run_now() > *since + 0.6;
}

START_TEST(ctrl_z_stops_and_fg_continues) {
    SKIP_UNLESS_ISOLATED();
    struct terminal *terminal = terminal_open_shell();
    struct isolated_run isolated = start(terminal, LINE "payload spin");
    struct family instances = family_find("payload");
    ck_assert_uint_eq(instances.count, 2);
    for (int i = 0; i < 3; i++) {
        terminal_stop_run(terminal);
        double since = run_now();
        RUN_UNTIL(terminal->run, stand_still(&instances, &since));
        RUN_UNTIL(terminal->run, run_state(isolated.master) == 'T');
        terminal_type(terminal, "fg\n");
        family_expect_to_run(terminal->run, &instances, 0.01);
    }
    terminal_type(terminal, TERMINAL_CTRL_C);
    expect_only_shell(terminal, &isolated, 128 + SIGINT);
    terminal_leave_shell(terminal);
}
END_TEST

/* The shell prompts as soon as the outer process has stopped. */
START_TEST(fg_right_after_ctrl_z_continues_the_run) {
    SKIP_UNLESS_ISOLATED();
    struct terminal *terminal = terminal_open_shell();
    struct isolated_run isolated = start(terminal, LINE "payload spin");
    struct family instances = family_find("payload");
    for (int i = 0; i < 6; i++) {
        terminal_stop_run(terminal);
        terminal_type(terminal, "fg\n");
        RUN_UNTIL(terminal->run, run_state(isolated.master) != 'T');
        family_expect_to_run(terminal->run, &instances, 0.01);
    }
    terminal_type(terminal, TERMINAL_CTRL_C);
    expect_only_shell(terminal, &isolated, 128 + SIGINT);
    terminal_leave_shell(terminal);
}
END_TEST

static void stop_and_kill(const char *how) {
    struct terminal *terminal = terminal_open_shell();
    start(terminal, LINE "payload spin");
    terminal_stop_run(terminal);
    terminal_command(terminal, how);
    terminal_command(terminal, "fg");
    terminal_leave_shell(terminal);
}

START_TEST(a_stopped_run_can_be_killed) {
    SKIP_UNLESS_ISOLATED();
    stop_and_kill("kill %1");
    stop_and_kill("kill -9 %1");
}
END_TEST

/* Without a shell nothing could continue a stopped run. */
START_TEST(ctrl_z_without_a_shell_leaves_no_process_stopped) {
    SKIP_UNLESS_ISOLATED();
    struct terminal *terminal =
        terminal_open(WORDS(SHOWSTOPPER, ISOLATE, "--grace", "30s", PAYLOAD, "catch"));
    struct isolated_run isolated = isolated_find(terminal->run);
    terminal_wait_ready(terminal, 2);
    terminal_type(terminal, TERMINAL_CTRL_Z);
    terminal_wait(terminal, "^Z");
    double since = run_now();
    RUN_UNTIL(terminal->run, run_now() > since + 0.5);
    RUN_UNTIL(terminal->run, run_state(isolated.master) != 'T');
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
    ck_assert_uint_eq(run_count_text(&terminal->run->out, "caught 2"), 2);
    run_expect_nothing_left();
    terminal_free(terminal);
}
END_TEST

static void end_by_key(const char *key, int number) {
    char caught[32];
    snprintf(caught, sizeof caught, "caught %d", number);
    struct terminal *terminal = terminal_open_shell();
    struct isolated_run isolated = start(terminal, LINE "--grace 30s payload catch");
    terminal_wait_ready(terminal, 2);
    terminal_type(terminal, key);
    expect_only_shell(terminal, &isolated, 128 + number);
    ck_assert_uint_eq(run_count_text(&terminal->run->out, caught), 2);
    terminal_leave_shell(terminal);
}

START_TEST(ctrl_c_and_ctrl_backslash_end_the_run) {
    SKIP_UNLESS_ISOLATED();
    end_by_key(TERMINAL_CTRL_C, SIGINT);
    end_by_key(TERMINAL_CTRL_BACKSLASH, SIGQUIT);
}
END_TEST

static void expect_nothing_without_terminal(struct terminal *terminal) {
    terminal_hang_up(terminal);
    run_expect_nothing_left();
    run_wait(terminal->run);
    terminal_free(terminal);
}

START_TEST(a_closed_terminal_ends_the_run) {
    SKIP_UNLESS_ISOLATED();
    struct terminal *terminal = terminal_open_shell();
    start(terminal, LINE "payload spin");
    expect_nothing_without_terminal(terminal);
    terminal = terminal_open_shell();
    start(terminal, LINE "payload spin");
    terminal_stop_run(terminal);
    expect_nothing_without_terminal(terminal);
}
END_TEST

/* The outer process leads the session, so it alone gets SIGHUP. */
START_TEST(a_terminal_closed_without_a_shell_ends_the_run) {
    SKIP_UNLESS_ISOLATED();
    struct terminal *terminal = terminal_open(WORDS(SHOWSTOPPER, ISOLATE, PAYLOAD, "spin"));
    isolated_find(terminal->run);
    terminal_hang_up(terminal);
    run_expect_nothing_left();
    run_expect(run_wait(terminal->run), -SIGHUP);
    terminal_free(terminal);
}
END_TEST

START_TEST(a_killed_shell_ends_the_run) {
    SKIP_UNLESS_ISOLATED();
    for (int stopped = 0; stopped < 2; stopped++) {
        struct terminal *terminal = terminal_open_shell();
        start(terminal, LINE "payload spin");
        if (stopped)
            terminal_stop_run(terminal);
        kill(terminal->run->pid, SIGKILL);
        run_expect_nothing_left();
        terminal_free(terminal);
    }
}
END_TEST

/* Delays the outer process before it reads the terminal settings. */
static const char *const shim = SHIMS_WORK ? SHIM("shim_late") : "SS_TEST_SHIM=";
static const char late[] = "SS_TEST_LATE=500:outside";

/*
 * `end` ends the run; NULL: it ends as planned. Returns false if it ended before its instance
 * changed the settings.
 */
static bool try_settings(void (*end)(struct terminal *terminal), int status, const char *duration) {
    struct terminal *terminal = terminal_open(WORDS("env", shim, late, SHOWSTOPPER, ISOLATE,
        "--duration", duration, "-n", "1", "-l", "100%", PAYLOAD, "tty-raw", "keys"));
    struct termios before = terminal->at_first;
    RUN_UNTIL(
        terminal->run, terminal->run->ended || run_count_text(&terminal->run->out, "ready") == 1);
    struct termios now = terminal_settings(terminal);
    bool changed = !terminal_settings_equal(&before, &now);
    ck_assert(changed || !end);
    if (end)
        end(terminal);
    run_expect(run_wait(terminal->run), status);
    run_expect_nothing_left();
    now = terminal_settings(terminal);
    ck_assert(terminal_settings_equal(&before, &now));
    terminal_free(terminal);
    return changed;
}

static void expect_settings(void (*end)(struct terminal *terminal), int status) {
    try_settings(end, status, "1h");
}

/* Repeated with a longer duration if the instance did not change the settings in time. */
static void expect_settings_at_planned_end(void) {
    bool changed = false;
    for (int duration = 4; !changed; duration *= 4) {
        char text[16];
        ck_assert_msg(duration < 100, "this machine is too slow");
        snprintf(text, sizeof text, "%ds", duration);
        changed = try_settings(NULL, 0, text);
    }
}

static void press_ctrl_c(struct terminal *terminal) {
    terminal_type(terminal, TERMINAL_CTRL_C);
}

static void kill_first(struct terminal *terminal) {
    kill(run_find(terminal->run, "ss-init"), SIGKILL);
}

static void kill_master(struct terminal *terminal) {
    kill(isolated_showstopper(terminal->run, true), SIGKILL);
}

START_TEST(terminal_settings_are_restored_at_the_end) {
    SKIP_UNLESS_ISOLATED();
    expect_settings_at_planned_end();
    expect_settings(press_ctrl_c, -SIGINT);
    expect_settings(kill_first, 125);
    expect_settings(kill_master, -SIGKILL);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(ctrl_z_stops_and_fg_continues),
    SS_CASE(fg_right_after_ctrl_z_continues_the_run),
    SS_CASE(a_stopped_run_can_be_killed),
    SS_CASE(ctrl_z_without_a_shell_leaves_no_process_stopped),
    SS_CASE(ctrl_c_and_ctrl_backslash_end_the_run),
    SS_CASE(a_closed_terminal_ends_the_run),
    SS_CASE(a_terminal_closed_without_a_shell_ends_the_run),
    SS_CASE(a_killed_shell_ends_the_run),
    SS_CASE(terminal_settings_are_restored_at_the_end))
/* clang-format on */
