/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_ACCOUNT_H
#define SSREQUEST_ACCOUNT_H

/* The result of a run, of services and of simulated queues alike. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capacity.h"
#include "generator.h"
#include "messages.h"

/* In the order of the choices of --profile. */
enum ssrequest_shape {
    SSREQUEST_CONSTANT,
    SSREQUEST_STEP,
    SSREQUEST_TRACE,
};

struct ssrequest_account {
    const char *program;                       /* "ssrequest" */
    const char *const *targets;                /* as the user wrote them */
    size_t target_count;                       /* 0: nothing with a name is asked */
    const struct ssrequest_messages *messages; /* NULL: requests have no parts */

    /* How requests were to be sent. With `rules.closed` the profile is NULL, and what depends on it
     * means nothing. */
    struct ssrequest_rules rules;
    const struct ssrequest_profile *profile;
    enum ssrequest_shape shape;
    double rate;       /* requests per second: SSREQUEST_CONSTANT, SSREQUEST_TRACE */
    double max, step;  /* likewise: SSREQUEST_STEP */
    ss_time hold;      /* SSREQUEST_STEP */
    const char *trace; /* SSREQUEST_TRACE: its path */
    enum ssrequest_arrival arrival;
    uint64_t seed;
    bool turned; /* the rate was changed while it ran: it was not the profile's all the time */

    /* The results: */
    double begin;    /* seconds since 1970, UTC; NaN: virtual time */
    ss_time asked;   /* how long requests were due; less than the profile if it was interrupted */
    ss_time took;    /* until the last request ended or was given up; not less than `asked` */
    ss_time skipped; /* on the tally's clock, when the figures begin */
    double own_cpu_seconds;  /* CPU time of the generator; NaN: unknown */
    double own_wait_seconds; /* for which it was ready to run and had no CPU; NaN: unknown */
    double connections;      /* that it opened; NaN: there is no network */
    const struct ssrequest_tally *tally;

    /* A search for a capacity, in place of the tally; NULL without a search. The profile is that of
     * a trial, and `rate` is NaN. */
    const struct ssrequest_capacity *capacity;
    const char *demand; /* as the user wrote it */
    ss_time timeout;    /* of a request */
};

/* "constant", "round-robin", ... as options and JSON name them. */
const char *ssrequest_shape_name(enum ssrequest_shape shape);
const char *ssrequest_arrival_name(enum ssrequest_arrival arrival);
const char *ssrequest_when_full_name(enum ssrequest_when_full when_full);
const char *ssrequest_balance_name(enum ssrequest_balance balance);

/* The profile's mean rate between these two moments; 0 after its end. */
double ssrequest_mean_rate(const struct ssrequest_profile *profile, ss_time from, ss_time to);

/* Successes of all that were due; NaN where none was. Refused ones are no successes. */
double ssrequest_success_ratio(const struct ssrequest_tally *tally);

/* Successes per second of `took`; NaN where that is 0. */
double ssrequest_throughput(const struct ssrequest_account *account);

#endif
