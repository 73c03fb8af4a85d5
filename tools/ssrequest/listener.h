/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_LISTENER_H
#define SSREQUEST_LISTENER_H

/* The socket of --control: takes lines from those who connect and answers each with a line. */

#include <stddef.h>

#include <showstopper/contract.h>

#include "control.h"

struct ssrequest_listener;

/* Room for an answer. */
#define SSREQUEST_ANSWER_ROOM 1024

#define SSREQUEST_ANSWER_LATER 1

/*
 * Executes a command. The answer is "ok", followed by `answer` if something was written there,
 * or the error. SSREQUEST_ANSWER_LATER: see ssrequest_listener_answer(); at most one client may
 * wait so.
 */
typedef int ssrequest_obey(void *context, const struct ssrequest_control *control,
    char answer[SSREQUEST_ANSWER_ROOM], struct ss_error *error);

/* Only its user can connect. A socket there that no process listens to is replaced. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssrequest_listener_open(struct ssrequest_listener **listener,
    const char *path, ssrequest_obey *obey, void *context, struct ss_error *error);

/*
 * Removes the socket. Lines that have been sent and not done are answered with the error that the
 * run is over; clients that do not read their answers are given a second for it.
 */
void ssrequest_listener_close(struct ssrequest_listener *listener);

/* One descriptor for all connections: it can be read from when serve() has something to do. */
SS_NONNULL()
int ssrequest_listener_descriptor(const struct ssrequest_listener *listener);

/* Has serve() call `ready`, with the context of `obey`, when this descriptor can be read from. */
SS_MUST_USE SS_NONNULL(1, 3) int ssrequest_listener_attend(struct ssrequest_listener *listener,
    int descriptor, void (*ready)(void *context), struct ss_error *error);

/*
 * The answer of the client that waits for one: `text` with "ok", or with a negative result the
 * reason. What it has sent meanwhile is done next.
 */
SS_NONNULL()
void ssrequest_listener_answer(
    struct ssrequest_listener *listener, int result, const char *text, const char *reason);

/* Never waits. While a client does not read its answers, no more lines are taken from it. */
SS_NONNULL()
void ssrequest_listener_serve(struct ssrequest_listener *listener);

#endif
