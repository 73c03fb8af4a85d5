/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_TRIAL_H
#define SSREQUEST_TRIAL_H

/*
 * How long a trial of a search for a capacity lasts: until its response times are stationary. After
 * a warm-up, stages follow, each twice as long as the one before. Each stage starts to count anew,
 * because a stage that was not stationary is warm-up, too. There is no clock: the caller says when
 * a period has ended.
 */

#include "capacity.h"
#include "generator.h"
#include "steady.h"

/* Periods of the warm-up and of the first stage; the number of stages; periods of the longest
 * trial. */
#define SSREQUEST_TRIAL_WARMUP  1
#define SSREQUEST_TRIAL_STAGE   4
#define SSREQUEST_TRIAL_STAGES  4
#define SSREQUEST_TRIAL_PERIODS 61

struct ssrequest_trial_watch {
    const struct ssrequest_criterion *criterion;
    struct ssrequest_tally *tally; /* of the present stage */
    ss_time period;
    struct ssrequest_steady steady; /* likewise */
    unsigned periods;               /* that have ended */
    unsigned stage, stage_begin;    /* 0: warm-up; the period it began with */
    bool is_steady, is_over;
};

/* The generator's witness; the context is the watch. */
ssrequest_witness ssrequest_trial_witness;

/* A period has ended. True: the trial has lasted long enough, and sending is to be stopped; what is
 * unfinished then counts for the last stage. */
bool ssrequest_trial_step(struct ssrequest_trial_watch *watch);

/* How long the last stage was, in seconds. */
double ssrequest_trial_measured(const struct ssrequest_trial_watch *watch);

#endif
