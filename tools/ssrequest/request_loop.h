/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_LOOP_H
#define SSREQUEST_LOOP_H

/*
 * The run: one epoll that waits for libcurl's sockets, for the next moment of the generator, of
 * libcurl or of the whole second, and for signals. SIGINT, SIGTERM and SIGHUP end sending; a second
 * one gives up what is under way.
 */

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "generator.h"
#include "http.h"

/* Other work of the run. None of it may wait. */
struct ssrequest_beside {
    /* When it begins, in nanoseconds since 1970; may be NULL. */
    void (*begin)(void *context, int64_t epoch);
    /* At the end of each whole second of the run, late ones in turn; may be NULL. */
    void (*second)(void *context, ss_time end);
    ss_time period; /* in the place of the second; 0: a second */
    int descriptor; /* another one to wait for; -1 without one */
    void (*ready)(void *context);
    void *context;
};

/* How a run went. */
struct ssrequest_course {
    int64_t begin, end; /* nanoseconds since 1970 */
    ss_time length;     /* until the last request had ended or was given up */
    ss_time stopped;    /* when sending was ended before its time; SS_TIME_NEVER: it was not */
    ss_time own_cpu;    /* CPU time of this process */
    ss_time own_wait;   /* for which it was ready to run and had no CPU; SS_TIME_NEVER: unknown */
};

struct ssrequest_loop;

/* From here on the signals are blocked. */
SS_MUST_USE SS_NONNULL(1) int ssrequest_loop_open(
    struct ssrequest_loop **loop, struct ss_error *error);
void ssrequest_loop_close(struct ssrequest_loop *loop);

/* The epoll descriptor, for ssrequest_http_open(). */
SS_NONNULL()
int ssrequest_loop_poll(const struct ssrequest_loop *loop);

/* For what is done beside, in the run: how far it is, and the end of sending, as by a signal. */
SS_NONNULL()
ss_time ssrequest_loop_now(const struct ssrequest_loop *loop);
SS_NONNULL()
void ssrequest_loop_stop(struct ssrequest_loop *loop);

/* Until the generator is over. `beside` may be NULL. 0, or a negative errno. */
SS_NONNULL(1, 2, 3, 5)
int ssrequest_loop_run(struct ssrequest_loop *loop, struct ssrequest_generator *generator,
    struct ssrequest_http *http, const struct ssrequest_beside *beside,
    struct ssrequest_course *course);

#endif
