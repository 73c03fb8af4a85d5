/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_HTTP_H
#define SSREQUEST_HTTP_H

/*
 * The generator's transport in real time: libcurl's multi interface over the caller's epoll
 * descriptor. All moments count from the begin of the run. No call waits.
 */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "generator.h"
#include "messages.h"
#include "targets.h"

struct ssrequest_http_rules {
    uint64_t slots; /* requests under way at most */
    ss_time timeout;
    bool fresh; /* a connection for each request */
    bool http2;
    bool insecure;
    const char *authorities; /* NULL: the system's */
    const struct ssrequest_messages *messages;
};

struct ssrequest_http;

/* Told of each request that has ended, never from within ssrequest_http_send(). */
typedef void ssrequest_http_ended(void *context, struct ssrequest_one *one,
    enum ssrequest_outcome outcome, uint64_t bytes, ss_time now);

/* The strings of the rules must outlive it. */
SS_MUST_USE SS_NONNULL(1, 2) int ssrequest_http_open(struct ssrequest_http **http,
    const struct ssrequest_http_rules *rules, int poll, struct ss_error *error);
void ssrequest_http_close(struct ssrequest_http *http);

/* The targets of the requests that are sent from now on. What the aim holds is taken. */
SS_NONNULL()
void ssrequest_http_aim(struct ssrequest_http *http, struct ssrequest_aim *aim);

/* Before anything is sent. `begin` is a moment of ss_platform_now(). */
SS_NONNULL(1, 3)
void ssrequest_http_begin(
    struct ssrequest_http *http, ss_time begin, ssrequest_http_ended *ended, void *context);

/* For struct ssrequest_transport; `http` is the context. It sets `sent` to the actual moment. */
SS_NONNULL()
void ssrequest_http_send(void *http, struct ssrequest_one *one);

/* Handles an event of the caller's epoll. False if the tag is not ours; those of others are below
 * 2^32. */
SS_NONNULL()
bool ssrequest_http_ready(struct ssrequest_http *http, uint64_t tag, uint32_t events);

/* Handles libcurl's timers and timeouts, then reports all requests that have ended. */
SS_NONNULL()
void ssrequest_http_advance(struct ssrequest_http *http, ss_time now);

/* When advance() is to be called next. */
SS_NONNULL()
ss_time ssrequest_http_next(const struct ssrequest_http *http);

/* Drops all that is under way, without a word. */
SS_NONNULL()
void ssrequest_http_forget(struct ssrequest_http *http);

/* Connections that were opened or tried. */
SS_NONNULL()
uint64_t ssrequest_http_connections(const struct ssrequest_http *http);

/* Answers that came by HTTP/1 although HTTP/2 was wanted. */
SS_NONNULL()
uint64_t ssrequest_http_older(const struct ssrequest_http *http);

#endif
