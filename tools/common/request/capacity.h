/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_CAPACITY_H
#define SSREQUEST_CAPACITY_H

/*
 * The search for the highest rate at which a service is quick enough. It runs nothing: it says at
 * which rate to try next, and learns whether the criterion held there.
 *
 * Trials vary, and near the capacity some hold and some fail. So a rate counts as known only when
 * all of several trials agree, and the answer is an interval: a rate that always held, and one that
 * always failed. It is as wide as the trials make it: with five of them, it has the true capacity
 * in it in at least 95 of 100 searches while the figure's standard deviation is below half of it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

#include "tally.h"

/* ---- what is quick enough ---- */

#define SSREQUEST_SUCCESSES_MIN 0.99

struct ssrequest_criterion {
    bool mean;    /* else the percentile of `share` */
    double share; /* 0 to 1 */
    ss_time limit;
};

/* "mean=1s", "p95=2s", "p99.9=500m". Status 125. */
int ssrequest_criterion_parse(
    const char *text, struct ssrequest_criterion *criterion, struct ss_error *error);

/* The figure from the intended moment, in seconds: of successes or of all, whichever is longer. NaN
 * without successes. */
double ssrequest_criterion_figure(
    const struct ssrequest_criterion *criterion, const struct ssrequest_tally *tally);

/* At least 99 % of what was intended has succeeded, and the figure is within its limit. */
bool ssrequest_criterion_holds(
    const struct ssrequest_criterion *criterion, const struct ssrequest_tally *tally);

/* ---- the search ---- */

#define SSREQUEST_TRIALS_MAX 100

/* A wider interval, in parts of its upper end, is not sure. */
#define SSREQUEST_SURE_WIDTH 0.2

struct ssrequest_search {
    double start;     /* requests per second */
    double most;      /* no higher rate is doubled */
    double precision; /* how narrow the interval is to be, of its upper end: 0.02 */
    unsigned repeats; /* how many trials are to agree at each end: 5 */
};

struct ssrequest_trial {
    double rate;
    double seconds;       /* ssrequest_criterion_figure() */
    double success_ratio; /* of all that was due */
    bool held;
    bool steady;     /* response times had become stationary: see trial.h */
    double measured; /* seconds that they were counted for */
};

/* All trials of one rate. */
struct ssrequest_trials {
    double rate;
    unsigned held, failed;
    unsigned unsteady; /* of `held`: it may not have held for long */
};

struct ssrequest_capacity {
    struct ssrequest_search search;
    struct ssrequest_trials rates[SSREQUEST_TRIALS_MAX]; /* in the order of their first trials */
    size_t count;
    struct ssrequest_trial trials[SSREQUEST_TRIALS_MAX]; /* in order */
    unsigned trial_count;
};

struct ssrequest_capacity_result {
    struct ssrequest_trials held;   /* the highest rate below all that ever failed; 0: none */
    struct ssrequest_trials failed; /* the lowest above all that ever held; 0: none */
    bool agreed;                    /* both are there, with as many trials as wanted */
    bool upper_bound; /* `held` may not hold for long: only that it fails at `failed` is known */
    bool sure;        /* agreed, no upper bound, and at most SSREQUEST_SURE_WIDTH wide */
};

void ssrequest_capacity_begin(
    struct ssrequest_capacity *capacity, const struct ssrequest_search *search);

/* The rate to try next; false: the search is over. */
bool ssrequest_capacity_next(const struct ssrequest_capacity *capacity, double *rate);

/* How it went at the rate that next() gave. */
void ssrequest_capacity_tell(
    struct ssrequest_capacity *capacity, const struct ssrequest_trial *trial);

/* As far as it is known now. */
struct ssrequest_capacity_result ssrequest_capacity_result(
    const struct ssrequest_capacity *capacity);

#endif
