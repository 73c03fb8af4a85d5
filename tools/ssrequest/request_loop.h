/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_REQUEST_LOOP_H
#define SSREQUEST_REQUEST_LOOP_H

/*
 * The event loop: one epoll waits for libcurl's sockets, for the next deadline of the generator,
 * libcurl or the current period, and for signals. SIGINT, SIGTERM and SIGHUP end sending; a second
 * signal abandons requests in progress.
 */

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "generator.h"
#include "http.h"
#include "platform/platform.h"

/* Callbacks for other work during the run. They must not block. */
struct ssrequest_hooks {
    /* Called at the start with the time in nanoseconds since 1970; may be NULL. */
    void (*begin)(void *context, int64_t epoch);
    /* Called once for each period, when it has ended; may be NULL. */
    void (*period_end)(void *context, ss_time end);
    ss_time period; /* 0 for a second */
    /*
     * Called after each event, and when the time that it returned has come; may be NULL. Returns
     * when to call it next.
     */
    ss_time (*step)(void *context, ss_time now);
    int descriptor; /* another descriptor to wait for; -1 if none */
    void (*ready)(void *context);
    void *context;
};

struct ssrequest_loop_stats {
    int64_t begin, end;   /* nanoseconds since 1970 */
    ss_time length;       /* time until the last request ended or was abandoned */
    ss_time stopped;      /* when sending was stopped early; SS_TIME_NEVER if it was not */
    uint64_t connections; /* number of connections that were opened or attempted */
    double own_cpu;  /* seconds of CPU time of this process; see ssrequest_loop_resume_usage() */
    double own_wait; /* seconds ready to run without a CPU; NaN if unknown */
    struct ss_clock_offsets clock; /* offsets of the clocks at the beginning */
    int64_t clock_set_by;          /* how far the wall clock was set during the run, nanoseconds */
    int64_t suspended; /* time for which the machine was suspended during the run, nanoseconds */
};

struct ssrequest_loop;

/* Opens the loop, blocks the signals that end a run, and ignores SIGPIPE. */
SS_MUST_USE SS_NONNULL(1) int ssrequest_loop_open(
    struct ssrequest_loop **loop, struct ss_error *error);
void ssrequest_loop_close(struct ssrequest_loop *loop);

/* Returns the epoll descriptor, for ssrequest_http_open(). */
SS_NONNULL() int ssrequest_loop_epoll(const struct ssrequest_loop *loop);

/* Returns a descriptor that is readable while a signal that ends a run is pending. */
SS_NONNULL() int ssrequest_loop_signal_descriptor(const struct ssrequest_loop *loop);

/* Returns the time since the start of the run. */
SS_NONNULL() ss_time ssrequest_loop_now(const struct ssrequest_loop *loop);

/*
 * Excludes from `own_cpu` and `own_wait` everything since ssrequest_loop_pause_usage(), or since
 * the start of the run.
 */
SS_NONNULL()
void ssrequest_loop_resume_usage(struct ssrequest_loop *loop);
SS_NONNULL()
void ssrequest_loop_pause_usage(struct ssrequest_loop *loop);

/* Ends sending, as the first signal does. */
SS_NONNULL() void ssrequest_loop_stop(struct ssrequest_loop *loop);

/* Runs until the generator has finished. `hooks` may be NULL. Returns 0 or a negative errno. */
SS_NONNULL(1, 2, 3, 5)
int ssrequest_loop_run(struct ssrequest_loop *loop, struct request_generator *generator,
    struct ssrequest_http *http, const struct ssrequest_hooks *hooks,
    struct ssrequest_loop_stats *stats);

#endif
