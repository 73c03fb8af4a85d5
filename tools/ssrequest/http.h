/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_HTTP_H
#define SSREQUEST_HTTP_H

/*
 * The generator's transport in real time: libcurl's multi interface over the caller's epoll
 * descriptor. Times count from the start of the run. No call blocks.
 */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "generator.h"
#include "request_options.h"
#include "targets.h"

struct ssrequest_http;

/* Called for each request that has ended, but never from ssrequest_http_send(). */
typedef void ssrequest_http_ended(void *context, struct request_in_flight *one,
    enum request_outcome outcome, uint64_t bytes, ss_time now);

/* Opens the transport. The options must outlive it. */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_http_open(struct ssrequest_http **http,
    const struct ssrequest_options *options, int poll, struct ss_error *error);
void ssrequest_http_close(struct ssrequest_http *http);

/* Sets the targets of later requests. Takes ownership of the contents of `targets`. */
SS_NONNULL()
void ssrequest_http_retarget(struct ssrequest_http *http, struct ssrequest_targets *targets);

/*
 * Begins a run at `begin`, a time of ss_platform_now(); all other times count from it. Call this
 * before sending.
 */
SS_NONNULL(1, 3)
void ssrequest_http_begin(
    struct ssrequest_http *http, ss_time begin, ssrequest_http_ended *ended, void *context);

/*
 * Sends a request and sets its `sent` to the actual time. Fits send() of struct request_transport,
 * with `http` as the context.
 */
SS_NONNULL() void ssrequest_http_send(void *http, struct request_in_flight *one);

/*
 * Handles an event of the caller's epoll. Returns false if the tag belongs to the caller, whose
 * tags must be below 2^32.
 */
SS_NONNULL()
bool ssrequest_http_handle_event(struct ssrequest_http *http, uint64_t tag, uint32_t events);

/* Handles libcurl's timer and the timeouts of requests, then reports all requests that ended. */
SS_NONNULL() void ssrequest_http_advance(struct ssrequest_http *http, ss_time now);

/* Returns when to call ssrequest_http_advance() next. */
SS_NONNULL() ss_time ssrequest_http_deadline(const struct ssrequest_http *http);

/* Abandons all requests in progress without reporting them. */
SS_NONNULL() void ssrequest_http_abandon(struct ssrequest_http *http);

/*
 * Closes all connections, so that the next requests open new ones. No request may be in progress.
 */
SS_MUST_USE SS_NONNULL() int ssrequest_http_renew(
    struct ssrequest_http *http, struct ss_error *error);

/* Returns the number of connections that were opened or attempted. */
SS_NONNULL() uint64_t ssrequest_http_connections(const struct ssrequest_http *http);

/* Returns how many responses came over HTTP/1 because the server declined HTTP/2. */
SS_NONNULL() uint64_t ssrequest_http_downgraded(const struct ssrequest_http *http);

#endif
