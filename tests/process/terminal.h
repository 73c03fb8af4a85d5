/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_TERMINAL_H
#define SHOWSTOPPER_TESTS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "run.h"

/*
 * A pseudo-terminal at which a test types. `run` is the leader of the terminal's session; its
 * standard output is what the terminal shows, so functions that wait for a run work, too.
 */
struct terminal {
    struct run *run; /* pipes[0] is the end at which the test types */
    int line;    /* the other end, kept open so that settings are readable after all processes have
                    ended */
    size_t seen; /* bytes of run->out that previous waits have passed */
    struct termios at_first; /* its settings before a program could change them */
};

#define TERMINAL_PATH 64

#define TERMINAL_CTRL_C         "\003"
#define TERMINAL_CTRL_Z         "\032"
#define TERMINAL_CTRL_BACKSLASH "\034"

/* Opens a pseudo-terminal, which only the test reads. Stores the path of its other end. */
int terminal_make(char path[TERMINAL_PATH]);

/*
 * Starts a program as leader of the terminal's session, as a terminal window does. It writes no
 * core dumps, has default signal dispositions, and finds our programs and payloads in PATH.
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

int terminal_status(struct terminal *terminal);

/*
 * Starts the program under test in the shell and waits until the instances run; the options must
 * include `-v` and more than one instance. Returns the master's pid.
 */
pid_t terminal_start_run(struct terminal *terminal, const char *options_and_command);

/* Types Ctrl-Z, and waits for the shell's message and prompt. */
void terminal_stop_run(struct terminal *terminal);

/* Waits until `ready` was printed `count` times since the terminal was opened. */
void terminal_wait_ready(struct terminal *terminal, size_t count);

/* Fails the test unless all processes started by the shell end within RUN_CLEAN_PATIENCE. */
void terminal_expect_only_shell(struct terminal *terminal);

/* Ends the shell and thereby the session. Fails the test if a process is left. */
void terminal_leave_shell(struct terminal *terminal);

/* Closes the terminal, as when its window is closed or the connection breaks. */
void terminal_hang_up(struct terminal *terminal);

struct termios terminal_settings(const struct terminal *terminal);
bool terminal_settings_equal(const struct termios *one, const struct termios *other);

/* Kills the program at the terminal if it still runs, and frees both. */
void terminal_free(struct terminal *terminal);

#endif
