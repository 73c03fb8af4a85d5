/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSLOAD_COMMAND_H
#define SSLOAD_COMMAND_H

#include <stdbool.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

/*
 * Handles the signals and the command of a run, which ends with the command or, without one, on a
 * signal. The terminal sends its signals to the command, too; other signals are forwarded to it.
 */

/* Checks the command before anything is written. Fails with status 127 or 126 if it cannot run. */
int ssload_command_check(char **words, struct ss_error *error);

/* Catches the signals. With a command, they do not end ssload. */
void ssload_command_catch(bool has_command);

/*
 * Starts the command. Fails with status 127 or 126 if the command cannot be executed, otherwise
 * with 125.
 */
int ssload_command_start(char **words, struct ss_error *error);

/* Returns whether a signal has ended the run. Without a command, it may interrupt a write. */
bool ssload_command_is_over(void);

/* Sleeps until `until`. Returns true early if the run ends. */
bool ssload_command_sleep(ss_time until);

/* Waits for the command. Returns its exit status, or 128 plus the signal that killed it. */
int ssload_command_wait(void);

#endif
