/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_LISTENER_H
#define SSREQUEST_LISTENER_H

/* The socket of --control: reads lines from clients and answers each with a line. */

#include <stddef.h>

#include <showstopper/contract.h>

#include "control.h"

struct ssrequest_listener;

/* Maximum size of an answer. */
#define SSREQUEST_ANSWER_ROOM 32768

#define SSREQUEST_ANSWER_LATER 1

/*
 * Executes a command. Returns 0 for the answer "ok" followed by `answer`, a negative value for an
 * answer with the error, or SSREQUEST_ANSWER_LATER if ssrequest_listener_answer() will send the
 * answer. At most one client may wait for such an answer.
 */
typedef int ssrequest_execute(void *context, const struct request_control *control,
    char answer[SSREQUEST_ANSWER_ROOM], struct ss_error *error);

/* Opens the socket; only this user can connect. Replaces a stale socket. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssrequest_listener_open(struct ssrequest_listener **listener,
    const char *path, ssrequest_execute *execute, void *context, struct ss_error *error);

/*
 * Removes the socket. Answers pending lines with an error, because the run is over, and waits up to
 * a second for clients to read their answers.
 */
void ssrequest_listener_close(struct ssrequest_listener *listener);

/* Returns a descriptor that is readable if ssrequest_listener_serve() has something to do. */
SS_NONNULL() int ssrequest_listener_descriptor(const struct ssrequest_listener *listener);

/*
 * Makes ssrequest_listener_serve() call `ready`, with the context of `execute`, when this
 * descriptor is readable.
 */
SS_MUST_USE SS_NONNULL(1, 3) int ssrequest_listener_watch(struct ssrequest_listener *listener,
    int descriptor, void (*ready)(void *context), struct ss_error *error);

/*
 * Answers the waiting client, if any: with "ok", or with an error and `reason` if `result` is
 * negative. Then executes the lines that the client has sent in the meantime.
 */
SS_NONNULL()
void ssrequest_listener_answer(struct ssrequest_listener *listener, int result, const char *reason);

/*
 * Serves all clients without blocking. Executes a client's further lines only after the client has
 * read its answer.
 */
SS_NONNULL() void ssrequest_listener_serve(struct ssrequest_listener *listener);

#endif
