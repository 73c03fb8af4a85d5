/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSLOAD_COMMAND_H
#define SSLOAD_COMMAND_H

#include <stdbool.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

/*
 * A run ends by a signal, or with the command. A signal from the keyboard reaches the
 * command by itself; one that was sent to us alone is passed on to it.
 */

/* Takes the signals over. With a command they do not end us. */
void ssload_command_catch(bool has_command);

/* Starts it. Status 127 or 126 when it cannot be executed, 125 for anything else. */
int ssload_command_start(char **words, struct ss_error *error);

/* Sleeps until then. True, at once: the run is over before. */
bool ssload_command_sleep(ss_time until);

/* Waits for the command's end; its exit status, or 128 and the number of its signal. */
int ssload_command_wait(void);

#endif
