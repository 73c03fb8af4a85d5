/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_STREAMS_H
#define SHOWSTOPPER_BASE_STREAMS_H

#include <stdbool.h>

#include <showstopper/error.h>

/* The standard streams of every program. */

/*
 * First of all: a standard stream that the caller had closed must not become the descriptor of a
 * file of ours. What takes its place reads as empty, refuses to be written, and is closed again for
 * whatever is executed.
 */
void ss_streams_occupy(void);

/* Whether something can be written there without waiting for its reader. */
bool ss_streams_has_room(int file);

/* Last of all: whether everything has been written to standard output. Status 125 if not. */
int ss_streams_flush(struct ss_error *error);

#endif
