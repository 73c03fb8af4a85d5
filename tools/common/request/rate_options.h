/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_RATE_OPTIONS_H
#define REQUEST_RATE_OPTIONS_H

/* Options for the rate of requests, shared by ssrequest and sssim queue. */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>

#include "run_result.h"

/*
 * Default of --duration for REQUEST_CONSTANT and a closed loop, which would not end by
 * themselves.
 */
#define REQUEST_DURATION_DEFAULT (10 * SS_SECOND)

struct request_given {
    int shape;              /* enum request_shape; -1 if not given */
    double rate, max, step; /* requests per second; NaN if not given */
    ss_time duration, hold; /* SS_TIME_NEVER if not given */
    const char *trace;      /* NULL if not given */
    uint64_t closed, cap;   /* 0 if not given */
    bool finds_rate;        /* the rate is found by a search, so REQUEST_CONSTANT needs none */
};

/* Returns the state in which no option is given. */
struct request_given request_given_nothing(void);

/*
 * Checks that the options agree, and sets defaults. Derives the shape from the other options. The
 * cap is 200 or, with `closed`, the number of clients.
 */
SS_MUST_USE SS_NONNULL(1) int request_given_settle(
    struct request_given *given, struct ss_error *error);

/*
 * Fails because the option `name` does not apply to the shape, or to `closed`. Use this for options
 * that only one program has, after request_given_settle().
 */
SS_MUST_USE SS_NONNULL(1, 2) int request_given_refuse(
    const struct request_given *given, const char *name, struct ss_error *error);

/* Makes the profile, and reads a trace if one is given. With `closed` the profile is empty. */
SS_MUST_USE SS_NONNULL(1, 2) int request_given_profile(
    const struct request_given *given, struct request_profile *profile, struct ss_error *error);

#endif
