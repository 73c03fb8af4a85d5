/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_HTTP_H
#define SSBURN_SERVE_HTTP_H

/* The server's side that speaks HTTP: one thread accepts, reads requests and writes answers. */

#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "serve_queue.h"

struct serve_http;

/* One request, while it is in the queue and at a worker. */
struct serve_request;

/* Requests by outcome; their sum is all of them. */
struct serve_counts {
    uint64_t served;  /* worked on, and the whole answer sent */
    uint64_t refused; /* 503: the queue was full */
    uint64_t dropped; /* 503: they waited when the server ended, or came then */
    uint64_t lost;    /* their client went away before it had all of its answer */
};

/* Takes over the listening socket, and puts requests into the queue, whose items are then struct
   serve_request. NULL: it failed. */
SS_NONNULL(2)
struct serve_http *serve_http_start(
    int file, struct serve_queue *queue, size_t bytes, struct ss_error *error);

/* Which one it is, in the order of arrival, from 0. */
SS_NONNULL()
uint64_t serve_request_number(const struct serve_request *request);

/* Has the request answered; `is_done`: a worker has worked on it. The caller must not use it any
   more. */
SS_NONNULL()
void serve_request_answer(struct serve_request *request, bool is_done);

/* No connection is accepted any more, and the listening socket is closed. */
SS_NONNULL()
void serve_http_quiesce(struct serve_http *http);

/* All requests must have been answered, and then all answers have a moment to be sent in. */
SS_NONNULL()
struct serve_counts serve_http_stop(struct serve_http *http);

#endif
