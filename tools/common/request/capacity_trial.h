/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_CAPACITY_TRIAL_H
#define REQUEST_CAPACITY_TRIAL_H

/*
 * Decides how long a trial of a search for a capacity lasts: until its response times are
 * stationary, it has clearly failed, or the last stage ends. Stages follow the warm-up, each twice
 * as long as the previous one. Each stage starts counting from 0, because a stage that was not
 * stationary was only more warm-up. There is no clock: the caller reports the end of each period.
 */

#include <showstopper/contract.h>

#include "capacity.h"
#include "generator.h"

/*
 * Decides whether response times are stationary. The means of successive batches are correlated
 * while a queue fills, or if batches are too short. Memory is bounded: if there are too many
 * batches, pairs are merged.
 */

#define REQUEST_BATCHES_MAX 32

/* Batches of response times. Zeroed: no values. */
struct request_batches {
    double sums[REQUEST_BATCHES_MAX];
    uint64_t size;  /* number of values in each batch */
    uint64_t count; /* number of values */
    double total;
};

SS_NONNULL() void request_batches_add(struct request_batches *batches, double seconds);

/*
 * Returns whether half of von Neumann's ratio of these values shows neither a trend nor correlation
 * of successive values, at the 5 % significance level.
 */
SS_NONNULL() bool request_values_are_uncorrelated(const double *values, int count);

/*
 * Returns whether response times are stationary. This needs at least 16 batches: that ratio shows
 * no trend, or a trend does not matter because batches differ by at most 10 %, or because on
 * average over `elapsed` seconds less than half a request is in the service, so there is no queue.
 */
SS_NONNULL() bool request_batches_are_steady(const struct request_batches *batches, double elapsed);

/* Returns whether the sum of the second half of the batches is more than 25 % above the first's. */
SS_NONNULL() bool request_batches_rise(const struct request_batches *batches);

#define REQUEST_TRIAL_WARMUP  1  /* periods of the warm-up */
#define REQUEST_TRIAL_STAGE   4  /* periods of the first stage */
#define REQUEST_TRIAL_STAGES  4  /* maximum number of stages */
#define REQUEST_TRIAL_PERIODS 61 /* periods of the longest trial */

struct request_trial_watch {
    const struct request_criterion *criterion;
    struct request_tally *tally; /* tally of the current stage */
    ss_time period;
    struct request_batches batches; /* response times of the current stage */
    unsigned periods;               /* number of periods that have ended */
    unsigned stage, stage_begin;    /* 0 in the warm-up; first period of the stage */
    bool is_steady, is_over;
};

/* An observer of the generator; `context` is the watch. */
request_observer request_trial_observe;

/*
 * Reports the end of a period. Returns true once the trial has lasted long enough: the caller then
 * stops sending, and unfinished requests count for the last stage.
 */
SS_NONNULL() bool request_trial_step(struct request_trial_watch *watch);

/* Returns the length of the last stage, in seconds. */
SS_NONNULL() double request_trial_measured(const struct request_trial_watch *watch);

#endif
