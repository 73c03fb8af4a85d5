/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_LISTENER_H
#define SSREQUEST_LISTENER_H

/* The socket of --control: takes lines from those who connect and answers each with a line. */

#include <stddef.h>

#include "control.h"

struct ssrequest_listener;

/* Room for an answer. */
#define SSREQUEST_ANSWER_ROOM 1024

/*
 * Does what was asked. The answer is "ok", with `answer` behind it if something was written there,
 * or the error.
 */
typedef int ssrequest_obey(void *context, const struct ssrequest_control *control,
    char answer[SSREQUEST_ANSWER_ROOM], struct ss_error *error);

/* Only its user can connect. A socket there that no process listens to is replaced. */
int ssrequest_listener_open(struct ssrequest_listener **listener, const char *path,
    ssrequest_obey *obey, void *context, struct ss_error *error);

/* Removes the socket. */
void ssrequest_listener_close(struct ssrequest_listener *listener);

/* One descriptor for all connections: it can be read from when serve() has something to do. */
int ssrequest_listener_descriptor(const struct ssrequest_listener *listener);

/* Never waits. A client that does not read its answers is disconnected. */
void ssrequest_listener_serve(struct ssrequest_listener *listener);

#endif
