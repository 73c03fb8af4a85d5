/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_HTTP_H
#define SSBURN_SERVE_HTTP_H

/*
 * The HTTP part of the server. One thread accepts connections, reads requests and writes answers.
 */

#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "serve_queue.h"

struct serve_http;

/* A request that is in the queue or at a worker. */
struct serve_request;

enum serve_outcome {
    SERVE_LOST,    /* the client left before the whole answer was sent */
    SERVE_SERVED,  /* completed, with the whole answer sent */
    SERVE_REFUSED, /* 503: the queue was full */
    SERVE_DROPPED, /* 503: still waiting when the server ended, or arrived later */
    SERVE_OUTCOMES
};

/* Number of requests by outcome. Every request is counted once. */
struct serve_counts {
    uint64_t of[SERVE_OUTCOMES];
};

/*
 * Takes ownership of the listening socket, and puts requests into the queue as struct
 * serve_request. Returns NULL on failure.
 */
SS_NONNULL(2)
struct serve_http *serve_http_start(
    int file, struct serve_queue *queue, size_t bytes, struct ss_error *error);

/* Returns how many connections can be open at a time. */
SS_NONNULL() unsigned serve_http_connections(const struct serve_http *http);

/* Returns the number of a request, from 0 in the order of arrival. */
SS_NONNULL() uint64_t serve_request_number(const struct serve_request *request);

/*
 * Sends the answer to a request. `is_done` says that a worker has completed it. The caller must not
 * use the request afterwards.
 */
SS_NONNULL() void serve_request_answer(struct serve_request *request, bool is_done);

/* Stops accepting connections and closes the listening socket. */
SS_NONNULL() void serve_http_quiesce(struct serve_http *http);

/*
 * Waits up to 2 s for answers to be sent, then ends the server, frees it and returns the counts.
 * Every request must have been answered.
 */
SS_NONNULL() struct serve_counts serve_http_stop(struct serve_http *http);

#endif
