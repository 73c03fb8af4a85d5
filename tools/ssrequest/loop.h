/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_LOOP_H
#define SSREQUEST_LOOP_H

/*
 * The run: one epoll that waits for libcurl's sockets, for the next moment of the generator, of
 * libcurl or of the whole second, and for signals. SIGINT, SIGTERM and SIGHUP end sending; a second
 * one gives up what is under way.
 */

#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

#include "ssrequest/generator.h"
#include "ssrequest/http.h"

/* What else is done in the run. None of it may wait. */
struct ssrequest_beside {
    /* At the end of each whole second of the run, late ones in turn; may be NULL. */
    void (*second)(void *context, ss_time end);
    int descriptor; /* another one to wait for; -1: there is none */
    void (*ready)(void *context);
    void *context;
};

/* How a run went. */
struct ssrequest_course {
    int64_t begin, end; /* nanoseconds since 1970 */
    ss_time length;
    ss_time own_cpu; /* CPU time of this process */
    int signal;      /* the first that came; 0: none */
};

struct ssrequest_loop;

/* From here on the signals are blocked. */
int ssrequest_loop_open(struct ssrequest_loop **loop, struct ss_error *error);
void ssrequest_loop_close(struct ssrequest_loop *loop);

/* The epoll descriptor, for ssrequest_http_open(). */
int ssrequest_loop_poll(const struct ssrequest_loop *loop);

/* Until the generator is over. `beside` may be NULL. */
int ssrequest_loop_run(struct ssrequest_loop *loop, struct ssrequest_generator *generator,
    struct ssrequest_http *http, const struct ssrequest_beside *beside,
    struct ssrequest_course *course);

#endif
