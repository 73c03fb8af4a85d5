/* SPDX-License-Identifier: Apache-2.0 */

/* Instances that use the terminal of the run. */

#include <signal.h>
#include <stdio.h>

#include "process.h"
#include "run.h"
#include "terminal.h"

#define HALF "-q -n 1 -l 50% -c fixed "
#define FULL "-q -n 1 -l 100% -c fixed " /* never stopped by control, only by the terminal */

/* Uses no shell, because a shell would restore the settings left by a killed program. */
static struct terminal *spoil_settings(struct termios *before, const char *const *words) {
    struct terminal *terminal = terminal_open(words);
    *before = terminal->at_first;
    terminal_wait_ready(terminal, 1);
    return terminal;
}

static void expect_spoilt(const struct terminal *terminal, const struct termios *before) {
    struct termios now = terminal_settings(terminal);
    ck_assert(!terminal_settings_equal(before, &now));
}

static void expect_settings(struct terminal *terminal, const struct termios *before) {
    run_expect_nothing_left();
    struct termios after = terminal_settings(terminal);
    ck_assert_msg(terminal_settings_equal(before, &after), "local flags were %o and are %o",
        (unsigned)before->c_lflag, (unsigned)after.c_lflag);
    terminal_free(terminal);
}

START_TEST(terminal_settings_survive_ctrl_c) {
    struct termios before;
    struct terminal *terminal =
        spoil_settings(&before, WORDS(SHOWSTOPPER, "-q", "-n", "1", "-l", "50%", "-c", "fixed",
                                    PAYLOAD, "tty-raw", "keys"));
    expect_spoilt(terminal, &before);
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
    expect_settings(terminal, &before);
}
END_TEST

/* Repeated with a longer duration if the instance did not change the settings in time. */
START_TEST(terminal_settings_survive_the_planned_end) {
    bool ready = false;
    for (int duration = 1; !ready; duration *= 4) {
        char text[16];
        ck_assert_msg(duration < 100, "this machine is too slow");
        snprintf(text, sizeof text, "%ds", duration);
        struct terminal *terminal = terminal_open(WORDS(SHOWSTOPPER, "-q", "-n", "1", "-l", "50%",
            "-c", "fixed", "--duration", text, PAYLOAD, "tty-raw"));
        struct termios before = terminal->at_first;
        run_expect(run_wait(terminal->run), 0);
        ready = run_count_text(&terminal->run->out, "ready") == 1;
        expect_settings(terminal, &before);
    }
}
END_TEST

/*
 * The guardian restores the settings: a script that started the run continues in the foreground,
 * and keys must work as before.
 */
START_TEST(terminal_settings_survive_a_killed_master) {
    struct termios before;
    struct termios now;
    struct terminal *terminal = spoil_settings(
        &before, WORDS("sh", "-c", "showstopper " HALF "payload tty-raw; sleep 1000"));
    expect_spoilt(terminal, &before);
    kill(run_find(terminal->run, "showstopper"), SIGKILL);
    RUN_UNTIL_WITHIN(RUN_CLEAN_PATIENCE, terminal->run,
        (now = terminal_settings(terminal), terminal_settings_equal(&before, &now)));
    run_find(terminal->run, "sleep");
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
    run_expect_nothing_left();
    terminal_free(terminal);
}
END_TEST

START_TEST(a_run_under_a_shell_restores_terminal_settings) {
    struct terminal *terminal = terminal_open_shell();
    terminal_command(terminal, "before=$(stty -g)");
    for (int duration = 1; run_count_text(&terminal->run->out, "ready") == 0; duration *= 4) {
        char line[128];
        ck_assert_msg(duration < 100, "this machine is too slow");
        snprintf(line, sizeof line, "showstopper %s--duration %ds payload tty-raw", HALF, duration);
        ck_assert_int_eq(terminal_command(terminal, line), 0);
        ck_assert_int_eq(terminal_command(terminal, "[ \"$before\" = \"$(stty -g)\" ]"), 0);
    }
    terminal_start_run(terminal, "-v -n 2 -l 50% -c fixed payload tty-raw keys");
    terminal_wait_ready(terminal, 3);
    terminal_type(terminal, TERMINAL_CTRL_C);
    terminal_wait_prompt(terminal);
    ck_assert_int_eq(terminal_status(terminal), 128 + SIGINT);
    ck_assert_int_eq(terminal_command(terminal, "[ \"$before\" = \"$(stty -g)\" ]"), 0);
    terminal_leave_shell(terminal);
}
END_TEST

/*
 * Changes the terminal's settings during a run in the background, which must not undo that. Returns
 * false if the run ended before.
 */
static bool change_during_run(struct terminal *terminal, int seconds) {
    const char *folder = run_make_folder();
    const char *summary = run_path(folder, "summary");
    char line[512];
    snprintf(line, sizeof line,
        "showstopper -q -v -n 2 -l 50%% --duration %ds --json %s payload spin &\n", seconds,
        summary);
    terminal_command(terminal, "stty echoe");
    terminal_type(terminal, line);
    terminal_wait(terminal, "instances run");
    terminal_command(terminal, "stty -echoe");
    struct termios before = terminal_settings(terminal);
    bool early = !run_exists(summary);
    RUN_UNTIL(terminal->run, run_exists(summary));
    terminal_expect_only_shell(terminal);
    struct termios after = terminal_settings(terminal);
    ck_assert(terminal_settings_equal(&before, &after));
    run_remove_folder(folder);
    return early;
}

START_TEST(a_background_run_does_not_change_terminal_settings) {
    struct terminal *terminal = terminal_open_shell();
    for (int seconds = 3; !change_during_run(terminal, seconds); seconds *= 4)
        ck_assert_int_le(seconds, 12);
    terminal_leave_shell(terminal);
}
END_TEST

START_TEST(instances_cannot_read_the_terminal) {
    struct terminal *terminal = terminal_open_shell();
    int status = terminal_command(terminal, "showstopper " FULL "payload tty-read");
    ck_assert_int_eq(status, 0);
    run_expect_text(&terminal->run->out, "read: 5\r\n"); /* EIO */
    terminal_leave_shell(terminal);
}
END_TEST

START_TEST(instances_may_write_to_the_terminal) {
    struct terminal *terminal = terminal_open_shell();
    terminal_command(terminal, "stty tostop");
    int status = terminal_command(terminal, "showstopper " FULL "payload tty-write");
    ck_assert_int_eq(status, 0);
    run_expect_text(&terminal->run->out, "done\r\n");
    ck_assert_uint_eq(run_count_text(&terminal->run->out, "a line\r\n"), 10);
    /* Its standard output is the terminal as well. */
    status = terminal_command(terminal, "showstopper " FULL "payload lines 5 20");
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(run_count_text(&terminal->run->out, "done 12.5 ms\r\n"), 5);
    terminal_leave_shell(terminal);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(terminal_settings_survive_ctrl_c),
    SS_CASE(terminal_settings_survive_the_planned_end),
    SS_CASE(terminal_settings_survive_a_killed_master),
    SS_CASE(a_run_under_a_shell_restores_terminal_settings),
    SS_CASE(a_background_run_does_not_change_terminal_settings),
    SS_CASE(instances_cannot_read_the_terminal),
    SS_CASE(instances_may_write_to_the_terminal))
/* clang-format on */
