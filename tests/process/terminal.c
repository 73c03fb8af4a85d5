/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <check.h>

#include "process.h"

#define PROMPT "shell> "

/* Wide enough that no command wraps. */
#define ROWS    50
#define COLUMNS 1000

static char line_name[TERMINAL_PATH]; /* prepare() has no argument */

/*
 * Resets signals, because a shell keeps ignoring those that were ignored at its start, as in a
 * background job of a script.
 */
static void reset_signals(void) {
    sigset_t none;
    for (int number = 1; number < SIGSYS; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void set_environment(void) {
    const char *before = getenv("PATH");
    const char *path = run_format(
        "%s:%s/tests:%s", TEST_BIN_DIR, TEST_BUILD_DIR, before ? before : "/usr/bin:/bin");
    setenv("PATH", path, 1);
    setenv("PS1", PROMPT, 1);
    setenv("TERM", "dumb", 1);
    setenv("LC_ALL", "C", 1);
    setenv("HISTFILE", "", 1); /* keeps typed commands out of the user's history */
    setenv("INPUTRC", "/dev/null", 1);
    unsetenv("PROMPT_COMMAND");
}

static void prepare(void) {
    setsid();
    int line = open(line_name, O_RDWR);
    if (line < 0 || ioctl(line, TIOCSCTTY, 0) < 0)
        _exit(99);
    for (int i = 0; i <= 2; i++)
        dup2(line, i);
    if (line > 2)
        close(line);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    reset_signals();
    set_environment();
}

int terminal_make(char path[TERMINAL_PATH]) {
    int keyboard = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    SKIP_UNLESS(keyboard >= 0, "terminal: cannot open a pseudo-terminal");
    ck_assert_msg(grantpt(keyboard) == 0 && unlockpt(keyboard) == 0 &&
                      ptsname_r(keyboard, path, TERMINAL_PATH) == 0,
        "there is no pseudo-terminal: %s", strerror(errno));
    return keyboard;
}

struct terminal *terminal_open(const char *const *words) {
    struct run_setup setup = {.prepare = prepare};
    struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
    struct terminal *terminal = calloc(1, sizeof *terminal);
    ck_assert_ptr_nonnull(terminal);
    int keyboard = terminal_make(line_name);
    terminal->line = open(line_name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_msg(terminal->line >= 0 && ioctl(terminal->line, TIOCSWINSZ, &size) == 0, "%s: %s",
        line_name, strerror(errno));
    terminal->at_first = terminal_settings(terminal);
    terminal->run = run_start(&setup, words);
    close(terminal->run->pipes[0]);
    terminal->run->pipes[0] = keyboard;
    return terminal;
}

struct terminal *terminal_open_shell(void) {
    struct terminal *terminal = terminal_open(WORDS("bash", "--norc", "--noprofile", "-i"));
    terminal_wait_prompt(terminal);
    return terminal;
}

void terminal_type(struct terminal *terminal, const char *keys) {
    size_t length = strlen(keys);
    ck_assert_int_eq(write(terminal->run->pipes[0], keys, length), length);
}

/* Returns the position after the next unseen `text`; with `number`, a number must follow `text`. */
static const char *find(const struct terminal *terminal, const char *text, bool number) {
    const char *at = terminal->run->out.bytes + terminal->seen;
    while ((at = strstr(at, text))) {
        at += strlen(text);
        size_t digits = strspn(at, "0123456789");
        if (!number || (digits > 0 && at[digits] != '\0'))
            return at;
    }
    return NULL;
}

static const char *wait_for(struct terminal *terminal, const char *text, bool number) {
    double deadline = run_now() + RUN_PATIENCE;
    struct run *run = terminal->run;
    const char *at;
    while (!(at = find(terminal, text, number))) {
        if (run->ended || run_now() > deadline) {
            run_print_processes();
            ck_abort_msg("'%s' never came%s\nat the terminal: %s\nstderr: %s", text,
                run->ended ? ", and the program has ended" : "", run->out.bytes, run->err.bytes);
        }
        run_nap(run);
    }
    terminal->seen = (size_t)(at - run->out.bytes);
    return at;
}

void terminal_wait(struct terminal *terminal, const char *text) {
    wait_for(terminal, text, false);
}

void terminal_wait_prompt(struct terminal *terminal) {
    terminal_wait(terminal, PROMPT);
}

int terminal_status(struct terminal *terminal) {
    /* The echoed command also contains "status=", but no number. */
    terminal_type(terminal, "echo status=$?\n");
    int status = atoi(wait_for(terminal, "status=", true));
    terminal_wait_prompt(terminal);
    return status;
}

int terminal_command(struct terminal *terminal, const char *command) {
    terminal_type(terminal, command);
    terminal_type(terminal, "\n");
    terminal_wait_prompt(terminal);
    return terminal_status(terminal);
}

pid_t terminal_start_run(struct terminal *terminal, const char *options_and_command) {
    terminal_type(terminal, "showstopper ");
    terminal_type(terminal, options_and_command);
    terminal_type(terminal, "\n");
    terminal_wait(terminal, "instances are running");
    return run_find(terminal->run, "showstopper");
}

void terminal_stop_run(struct terminal *terminal) {
    terminal_type(terminal, TERMINAL_CTRL_Z);
    terminal_wait(terminal, "Stopped");
    terminal_wait_prompt(terminal);
}

void terminal_wait_ready(struct terminal *terminal, size_t count) {
    RUN_UNTIL(terminal->run, run_count_text(&terminal->run->out, "ready") == count);
}

void terminal_expect_only_shell(struct terminal *terminal) {
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL_WITHIN(
        RUN_CLEAN_PATIENCE, terminal->run, run_alive(pids) == 1 && pids[0] == terminal->run->pid);
}

void terminal_leave_shell(struct terminal *terminal) {
    struct run *run = terminal->run;
    terminal_expect_only_shell(terminal);
    terminal_type(terminal, "exit\n");
    /* The shell refuses once if it does not know yet that a stopped job was killed. */
    RUN_UNTIL(run, run->ended || run_count_text(&run->out, "There are stopped jobs") > 0);
    if (!run->ended)
        terminal_type(terminal, "exit\n");
    run_wait(run);
    run_expect_nothing_left();
    terminal_free(terminal);
}

void terminal_hang_up(struct terminal *terminal) {
    close(terminal->line);
    terminal->line = -1;
    close(terminal->run->pipes[0]);
    terminal->run->pipes[0] = -1;
}

struct termios terminal_settings(const struct terminal *terminal) {
    struct termios settings;
    ck_assert_msg(tcgetattr(terminal->line, &settings) == 0, "%s", strerror(errno));
    return settings;
}

bool terminal_settings_equal(const struct termios *one, const struct termios *other) {
    return one->c_iflag == other->c_iflag && one->c_oflag == other->c_oflag &&
           one->c_cflag == other->c_cflag && one->c_lflag == other->c_lflag &&
           memcmp(one->c_cc, other->c_cc, sizeof one->c_cc) == 0;
}

void terminal_free(struct terminal *terminal) {
    if (terminal->line >= 0)
        close(terminal->line);
    run_free(terminal->run);
    free(terminal);
}
