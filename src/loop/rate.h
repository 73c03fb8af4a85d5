/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_RATE_H
#define SHOWSTOPPER_LOOP_RATE_H

#include "loop/pipeline.h"

/* Time from one decision to the next. */
#define SS_RATE_INTERVAL (100 * SS_MILLISECOND)

/* Intervals of the past over which answers are counted. */
#define SS_RATE_HISTORY 100

enum ss_rate_stage {
    SS_RATE_SILENT,  /* no request: how much CPU time does the service use without us? */
    SS_RATE_SINGLE,  /* one request at a time: how much does one use? */
    SS_RATE_WAITING, /* no request: how much is used after the answers? */
    SS_RATE_CONTROL, /* the rate follows control */
};

/* Requests so far. Those that are due but not sent yet, or have not ended, are pending. */
struct ss_rate_counts {
    uint64_t due, ended; /* `ended` includes failures */
};

/*
 * The rate of requests to a service as a step function: given the time, it returns the rate and
 * when to call it again. It never waits, so that the simulator runs the same code in virtual time.
 */
struct ss_rate {
    struct ss_pipeline pipeline;
    double max; /* requests per second; INFINITY without a bound */
    enum ss_rate_stage stage;
    ss_time stage_ends; /* earliest end of the stage; SS_TIME_NEVER in CONTROL */
    ss_time deadline;   /* end of the present interval */
    double rate;        /* requests per second; NaN before the first decision */
    double target;      /* of the latest decision, as is `load`; NaN in a `free` section */
    double load;        /* the estimate; NaN if unknown */
    struct ss_rate_counts history[SS_RATE_HISTORY]; /* at the ends of the latest intervals */
    uint64_t intervals;                             /* number of intervals in stage CONTROL */
    bool overloaded;
    double ceiling;        /* bound of the rate while the service is overloaded; INFINITY if none */
    double best;           /* most answers per second since it became overloaded */
    ss_time limited_since; /* when control began to want more than a bound permits; SS_TIME_NEVER if
                              it does not */
};

struct ss_rate_action {
    double rate;      /* requests per second */
    bool single;      /* one request at a time: send the next after an answer */
    ss_time deadline; /* when to call again */
    enum ss_failure failure;
};

/* Begins with silence at `now`. The trace begins with stage CONTROL. */
void ss_rate_open(
    struct ss_rate *rate, const struct ss_pipeline *pipeline, double max, ss_time now);

/* Returns the rate from `now` on. Call this at the deadline. */
struct ss_rate_action ss_rate_step(
    struct ss_rate *rate, ss_time now, const struct ss_rate_counts *counts);

#endif
