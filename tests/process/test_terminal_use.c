/* SPDX-License-Identifier: Apache-2.0 */

/* Instances that use the terminal of the run. */

#include "family.h"
#include "isolated.h"
#include "terminal.h"

#define HALF "-q -n 1 -l 50% -c fixed "
#define FULL "-q -n 1 -l 100% -c fixed " /* never stopped by control, only by the terminal */

/* Delays the outer process of an isolated run before it reads the terminal settings. */
static const char *const shim = SHIMS_WORK ? SHIM("shim_late") : "SS_TEST_SHIM=";
static const char late[] = "SS_TEST_LATE=500:outside";

/*
 * Uses no shell, because a shell would restore the settings left by a killed program. `end` ends
 * the run; NULL: it ends as planned. Returns false if it ended before its instance changed the
 * settings.
 */
static bool try_settings(
    bool isolated, void (*end)(struct terminal *terminal), int status, const char *duration) {
    struct terminal *terminal = terminal_open(
        WORDS("env", shim, late, SHOWSTOPPER, isolated ? "--isolate" : "-q", "-q", "-c", "fixed",
            "--duration", duration, "-n", "1", "-l", "50%", PAYLOAD, "tty-raw", "keys"));
    struct run *run = terminal->run;
    RUN_UNTIL(run, run->ended || run_count_text(&run->out, "ready") == 1);
    struct termios now = terminal_settings(terminal);
    bool changed = !terminal_settings_equal(&terminal->at_first, &now);
    ck_assert(changed || !end);
    if (end)
        end(terminal);
    run_expect(run_wait(run), status);
    run_expect_nothing_left();
    now = terminal_settings(terminal);
    ck_assert_msg(terminal_settings_equal(&terminal->at_first, &now),
        "local flags were %o and are %o", (unsigned)terminal->at_first.c_lflag,
        (unsigned)now.c_lflag);
    terminal_free(terminal);
    return changed;
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

/* A planned end comes later if the instance did not change the settings in time. */
TEST_CASE(terminal_settings_are_restored_at_the_end) {
    for (EACH_MODE(isolated)) {
        const char *const *duration = WORDS("1s", "4s", "16s", "64s");
        while (!try_settings(isolated, NULL, 0, *duration))
            ck_assert_ptr_nonnull(*++duration);
        try_settings(isolated, press_ctrl_c, -SIGINT, "1h");
    }
    try_settings(true, kill_first, 125, "1h");
    try_settings(true, kill_master, -SIGKILL, "1h");
}

/*
 * The guardian restores the settings: a script that started the run continues in the foreground,
 * and keys must work as before.
 */
static void kill_and_expect_settings(bool with_executors) {
    struct terminal *terminal =
        terminal_open(WORDS("sh", "-c", "showstopper " HALF "payload tty-raw; sleep 1000"));
    terminal_wait_ready(terminal, 1);
    struct termios now = terminal_settings(terminal);
    ck_assert(!terminal_settings_equal(&terminal->at_first, &now));

    struct family executors = family_find("ss-executor");
    ck_assert_uint_eq(executors.count, 1);
    kill(run_find(terminal->run, "showstopper"), SIGKILL);
    if (with_executors)
        family_signal(&executors, SIGKILL);
    RUN_UNTIL_WITHIN(RUN_CLEAN_PATIENCE, terminal->run,
        (now = terminal_settings(terminal), terminal_settings_equal(&terminal->at_first, &now)));
    run_find(terminal->run, "sleep");
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
}

TEST_CASE(terminal_settings_survive_a_killed_master) {
    kill_and_expect_settings(false);
    kill_and_expect_settings(true);
}

/*
 * Changes the terminal's settings during a run in the background, which must not undo that. Returns
 * false if the run ended before.
 */
static bool change_during_run(struct terminal *terminal, int seconds) {
    const char *summary = run_new_path("summary");
    const char *line =
        run_format("showstopper -q -v -n 2 -l 50%% --duration %ds --json %s payload spin &\n",
            seconds, summary);
    terminal_command(terminal, "stty echoe");
    terminal_type(terminal, line);
    terminal_wait(terminal, "instances are running");
    terminal_command(terminal, "stty -echoe");
    struct termios before = terminal_settings(terminal);
    bool early = !run_exists(summary);
    RUN_UNTIL(terminal->run, run_exists(summary));
    terminal_expect_only_shell(terminal);
    struct termios after = terminal_settings(terminal);
    ck_assert(terminal_settings_equal(&before, &after));
    return early;
}

TEST_CASE(a_background_run_does_not_change_terminal_settings) {
    struct terminal *terminal = terminal_open_shell();
    for (int seconds = 3; !change_during_run(terminal, seconds); seconds *= 4)
        ck_assert_int_le(seconds, 12);
    terminal_leave_shell(terminal);
}

TEST_CASE(instances_may_write_to_the_terminal_but_not_read_it) {
    static const char *const rows[][2] = {{"tty-read", "read: 5\r\n"}, /* EIO */
        {"tty-write", "done\r\n"}, {"lines 5 20", "done 12.5 ms\r\n"}};
    struct terminal *terminal = terminal_open_shell();
    terminal_command(terminal, "stty tostop");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *line = run_format("showstopper %spayload %s", FULL, rows[i][0]);
        ck_assert_int_eq(terminal_command(terminal, line), 0);
        run_expect_text(&terminal->run->out, rows[i][1]);
    }
    ck_assert_uint_eq(run_count_text(&terminal->run->out, "a line\r\n"), 10);
    ck_assert_uint_eq(run_count_text(&terminal->run->out, "done 12.5 ms\r\n"), 5);
    terminal_leave_shell(terminal);
}
