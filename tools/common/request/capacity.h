/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_CAPACITY_H
#define REQUEST_CAPACITY_H

/*
 * The search for the highest rate at which a service is fast enough. The search runs nothing: it
 * chooses the next rate to try, and the caller reports whether the criterion held. Trials vary, and
 * near the capacity some hold and some fail. A rate is therefore known only if several trials
 * agree, and the result is an interval: from a rate that always held to one that always failed.
 * With five trials at each end, it contains the true capacity in at least 95 of 100 searches if the
 * standard deviation of the statistic is below half of its value.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "tally.h"

#define REQUEST_SUCCESS_RATIO_MIN 0.99

struct request_criterion {
    bool is_mean; /* true: the mean; false: the percentile at `share` */
    double share; /* 0 to 1 */
    ss_time limit;
};

/* Parses "mean=1s", "p95=2s", "p99.9=500ms". Fails with status 125. */
SS_MUST_USE SS_NONNULL(1, 2) int request_criterion_parse(
    const char *text, struct request_criterion *criterion, struct ss_error *error);

/*
 * Returns the mean or percentile of response times since the due time, in seconds: of the successes
 * or of all requests, whichever is longer. NaN if no request succeeded.
 */
SS_MUST_USE SS_NONNULL() double request_criterion_figure(
    const struct request_criterion *criterion, const struct request_tally *tally);

/*
 * Returns whether at least 99 % of the intended requests succeeded and the figure is within its
 * limit.
 */
SS_MUST_USE SS_NONNULL() bool request_criterion_holds(
    const struct request_criterion *criterion, const struct request_tally *tally);

#define REQUEST_TRIALS_MAX 100

/* The result is sure only if the interval is at most this wide, relative to its upper end. */
#define REQUEST_SURE_WIDTH 0.2

struct request_search {
    double start;     /* requests per second */
    double max;       /* the rate is not doubled beyond this */
    double precision; /* required width of the interval, relative to its upper end, such as 0.02 */
    unsigned repeats; /* number of trials that must agree at each end, such as 5 */
};

struct request_trial {
    double rate;          /* requests per second */
    double seconds;       /* result of request_criterion_figure() */
    double success_ratio; /* successes among all requests that were due */
    bool held;
    bool steady;     /* response times became stationary, see capacity_trial.h */
    double measured; /* counted time, seconds */
    double took;     /* from the start until the last answer, seconds */
    double own_cpu;  /* CPU time of the generator in `took`, seconds */
    double own_wait; /* time in `took` when the generator was ready but had no CPU, seconds; NaN if
                        unknown */
    uint64_t resource_failures; /* requests that failed because the generator lacked resources */
    bool generator_is_limit;    /* the generator was too busy to send the requests on time */
};

/*
 * Returns whether a trial failed because of the generator, so that it says nothing about the
 * service.
 */
SS_NONNULL() bool request_trial_is_limited(const struct request_trial *trial);

/* The trials of one rate. */
struct request_trials {
    double rate;
    unsigned held, failed;
    unsigned unsteady;           /* number of trials that held but were not stationary */
    unsigned limited;            /* number of trials that failed because of the generator */
    unsigned short_of_resources; /* number of `limited` trials in which it lacked resources */
};

struct request_capacity {
    struct request_search search;
    struct request_trials rates[REQUEST_TRIALS_MAX]; /* in the order of their first trials */
    size_t rate_count;
    struct request_trial trials[REQUEST_TRIALS_MAX]; /* all trials, in order */
    unsigned trial_count;
};

struct request_capacity_result {
    struct request_trials held;   /* the highest rate that held and is below all rates that failed;
                                       0 if none */
    struct request_trials failed; /* the lowest rate that failed and is above all rates that held;
                                       0 if none */
    bool agreed;                  /* `held` and `failed` exist, each with the required trials */
    bool upper_bound;             /* `held` was not stationary, so only the upper end is known */
    bool lower_bound; /* trials at `failed` failed because of the generator, so at most the lower
                         end is known */
    bool sure;        /* agreed, neither end is doubtful, and at most REQUEST_SURE_WIDTH wide */
};

SS_NONNULL()
void request_capacity_begin(struct request_capacity *capacity, const struct request_search *search);

/* Chooses the next rate to try. Returns false if the search is over. */
SS_NONNULL() bool request_capacity_next(const struct request_capacity *capacity, double *rate);

/* Records a trial at the rate that request_capacity_next() chose. */
SS_NONNULL()
void request_capacity_add(struct request_capacity *capacity, const struct request_trial *trial);

SS_MUST_USE SS_NONNULL() struct request_capacity_result
    request_capacity_result(const struct request_capacity *capacity);

#endif
