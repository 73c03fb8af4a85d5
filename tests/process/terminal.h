/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_TERMINAL_H
#define SHOWSTOPPER_TESTS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "run.h"

/*
 * A pseudo-terminal at which a test types. Its output is the standard output of `run`, the program
 * that leads the terminal's session, so all functions that wait for a run work here as well.
 */
struct terminal {
    struct run *run; /* pipes[0] is the end at which the test types */
    int line;        /* the other end: the settings stay readable after all processes have ended */
    size_t seen;     /* bytes of run->out that terminal_wait() has passed */
    struct termios at_first; /* its settings before a program could change them */
};

#define TERMINAL_CTRL_C         "\003"
#define TERMINAL_CTRL_Z         "\032"
#define TERMINAL_CTRL_BACKSLASH "\034"

/*
 * Starts a program as leader of the terminal's session, as a terminal window does. It dumps no core
 * and has default dispositions of signals, and our programs and payloads are in its PATH.
 */
struct terminal *terminal_open(const char *const *words);

/* Starts an interactive bash in this way and waits for its first prompt. */
struct terminal *terminal_open_shell(void);

void terminal_type(struct terminal *terminal, const char *keys);

/* Waits until this text appears after the text of the previous wait. */
void terminal_wait(struct terminal *terminal, const char *text);

void terminal_wait_prompt(struct terminal *terminal);

/* Types a command and waits for the next prompt. Returns the status that the shell shows. */
int terminal_command(struct terminal *terminal, const char *command);

/* Returns the status of the shell's last command. */
int terminal_status(struct terminal *terminal);

/*
 * Starts the program under test in the shell, which needs `-v` and more than one instance, and
 * waits until the instances run. Returns the master's pid.
 */
pid_t terminal_start_run(struct terminal *terminal, const char *options_and_command);

/* Types Ctrl-Z, and waits for the shell's message and prompt. */
void terminal_stop_run(struct terminal *terminal);

/* Waits until instances have printed `ready` this often since the terminal was opened. */
void terminal_wait_ready(struct terminal *terminal, size_t count);

/* Fails the test unless all that the shell started ends as soon as promised. */
void terminal_expect_only_shell(struct terminal *terminal);

/* Ends the shell and with it the session; nothing may be left. */
void terminal_leave_shell(struct terminal *terminal);

/* Closes the terminal, as when its window is closed or the connection breaks. */
void terminal_hang_up(struct terminal *terminal);

struct termios terminal_settings(const struct terminal *terminal);
bool terminal_settings_equal(const struct termios *one, const struct termios *other);

/* Ends the program at the terminal if it still runs, and forgets both. */
void terminal_free(struct terminal *terminal);

#endif
