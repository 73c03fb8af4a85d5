/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_HTTP_H
#define SSBURN_SERVE_HTTP_H

/* The HTTP side of the server: one thread accepts, reads requests and writes answers. */

#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "serve_queue.h"

struct serve_http;

/* One request, while it is in the queue and at a worker. */
struct serve_request;

/* Requests by outcome; their sum is the number of requests. */
struct serve_counts {
    uint64_t served;  /* completed, with the whole answer sent */
    uint64_t refused; /* 503: the queue was full */
    uint64_t dropped; /* 503: they waited when the server ended, or came later */
    uint64_t lost;    /* their client left before it had the whole answer */
};

/*
 * Takes over the listening socket, and puts requests into the queue as struct serve_request.
 * Returns NULL on failure.
 */
SS_NONNULL(2)
struct serve_http *serve_http_start(
    int file, struct serve_queue *queue, size_t bytes, struct ss_error *error);

/* Returns the number of a request, from 0 in the order of arrival. */
SS_NONNULL()
uint64_t serve_request_number(const struct serve_request *request);

/*
 * Sends the answer of a request; `is_done`: a worker has completed it. The caller must not use the
 * request any more.
 */
SS_NONNULL()
void serve_request_answer(struct serve_request *request, bool is_done);

/* Stops accepting connections and closes the listening socket. */
SS_NONNULL()
void serve_http_quiesce(struct serve_http *http);

/* Waits a moment for answers to be sent. All requests must have been answered. */
SS_NONNULL()
struct serve_counts serve_http_stop(struct serve_http *http);

#endif
