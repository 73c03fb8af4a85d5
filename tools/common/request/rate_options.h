/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_GIVEN_H
#define SSREQUEST_GIVEN_H

/* The options that say how many requests there are, of ssrequest and of sssim queue alike. */

#include <stdbool.h>
#include <stdint.h>

#include "run_result.h"

/* Of SSREQUEST_CONSTANT and of a closed loop, where nothing else ends them. */
#define SSREQUEST_DURATION_DEFAULT (10 * SS_SECOND)

struct ssrequest_given {
    int shape;              /* enum ssrequest_shape; -1: not given */
    double rate, max, step; /* requests per second; NaN: not given */
    ss_time duration, hold; /* SS_TIME_NEVER: not given */
    const char *trace;      /* NULL: not given */
    uint64_t closed, cap;   /* 0: not given */
    bool finds_rate;        /* SSREQUEST_CONSTANT needs no rate */
};

/* None of them is given. */
struct ssrequest_given ssrequest_given_nothing(void);

/* Checks what goes together. A shape that is not given is the one that the other options belong to,
 * a cap that is not given 200, or with `closed` as large as never to be reached. */
int ssrequest_given_settle(struct ssrequest_given *given, struct ss_error *error);

/* Fails, as the option `name` does not go together with the shape, or with `closed`. For options of
 * one program only, behind settle(). */
int ssrequest_given_refuse(
    const struct ssrequest_given *given, const char *name, struct ss_error *error);

/* A trace is read here. With `closed` there are no stretches. */
int ssrequest_given_profile(
    const struct ssrequest_given *given, struct ssrequest_profile *profile, struct ss_error *error);

#endif
