/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_GENERATOR_H
#define REQUEST_GENERATOR_H

/*
 * Sends requests when they are due, or when previous ones have ended. The generator has neither a
 * clock nor a network: callers pass the time, and a transport sends. ssrequest's transport is
 * libcurl in real time, sssim's is a queue in virtual time.
 */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "schedule.h"
#include "tally.h"

#define REQUEST_TARGETS_MAX 64

/* A request in progress. Moments are times since the run began. */
struct request_in_flight {
    uint64_t number; /* from 0, in the order of due times */
    ss_time due, sent;
    uint32_t target; /* index among the current targets */
    uint32_t label;  /* index among all targets of the run */
    uint32_t status; /* status of the answer if the transport sets it; see struct request_ended */
    uint32_t slot;   /* index for the transport's own data, below the cap */
};

struct request_transport {
    /*
     * Begins a request. May set its `sent` to a later moment, because sending many requests takes
     * time. Must not call request_generator_finish_request(): report immediate failures later.
     */
    void (*send)(void *context, struct request_in_flight *one);
    void *context;
};

/* Handling of requests beyond the cap, in the order of the choices of --when-full. */
enum request_when_full {
    REQUEST_DELAY, /* requests wait; refused if 2^24 are waiting */
    REQUEST_DROP,
};

/* In the order of the choices of --balance. */
enum request_balance {
    REQUEST_ROUND_ROBIN,
    REQUEST_LEAST_CONNECTIONS, /* the fewest unfinished requests; equal targets take turns */
};

struct request_rules {
    uint64_t cap; /* maximum number of unfinished requests; at least 1 */
    enum request_when_full when_full;
    /*
     * Number of clients. Each sends its next request after an answer, or 10 ms after a failure. 0:
     * requests follow the schedule.
     */
    uint64_t clients;
    /*
     * When sending ends. Requests that became due earlier are still sent, even if
     * request_generator_advance() is called late; waiting requests and later requests of clients
     * are not. If the schedule ends earlier, the run continues, because the rate may still change;
     * only `max` ends it earlier. SS_TIME_NEVER: the run ends with the schedule.
     */
    ss_time end;
    uint64_t max;     /* total number of requests; 0: no limit but `end` */
    uint32_t targets; /* number of targets, at least 1 */
    enum request_balance balance;
    /* Targets of the requests, used in turn; NULL: the balance chooses. */
    const uint32_t *order;
    uint64_t order_count;
};

enum request_fate {
    REQUEST_ENDED,
    REQUEST_REFUSED,    /* refused at the cap, never sent */
    REQUEST_NEVER_SENT, /* waiting when sending ended */
    REQUEST_UNFINISHED, /* abandoned */
};

/*
 * Called when a request ends in any way. `ended->finished` is the moment of the end; `ended->sent`
 * and `one->sent` are SS_TIME_NEVER if the request was never sent; outcome and bytes are valid only
 * with REQUEST_ENDED.
 */
typedef void request_observer(void *context, const struct request_in_flight *one,
    enum request_fate fate, const struct request_ended *ended);

/*
 * Chooses the target of the next request, from 0 to `count` - 1; `last` is the target of the
 * previous request.
 */
SS_MUST_USE SS_NONNULL() uint32_t request_balance_choose(
    enum request_balance balance, const uint64_t *unfinished, uint32_t count, uint32_t last);

struct request_generator;

/* Opens a generator. `schedule` is NULL with `clients`. The caller owns schedule and tally. */
SS_MUST_USE SS_NONNULL(1, 2, 4) int request_generator_open(struct request_generator **generator,
    const struct request_rules *rules, struct request_schedule *schedule,
    const struct request_transport *transport, struct request_tally *tally, struct ss_error *error);
void request_generator_close(struct request_generator *generator);

SS_NONNULL(1, 2)
void request_generator_set_observer(
    struct request_generator *generator, request_observer *observer, void *context);

/*
 * Sends a few of the requests that are due. Call it again if request_generator_deadline() is at
 * most `now`.
 */
SS_NONNULL() void request_generator_advance(struct request_generator *generator, ss_time now);

/*
 * Returns when to call request_generator_advance() next; SS_TIME_NEVER: only after the next
 * request has ended, if any.
 */
SS_NONNULL() ss_time request_generator_deadline(const struct request_generator *generator);

/* Makes a request due at `now`, in addition to those of the schedule. */
SS_NONNULL() void request_generator_add(struct request_generator *generator, ss_time now);

/*
 * Sends the requests that are due, and sets the rate from `now`; see request_schedule_set_rate().
 * Do not use this with `clients`.
 */
SS_NONNULL()
void request_generator_set_rate(struct request_generator *generator, ss_time now, double rate);

#define REQUEST_TARGET_NEW UINT32_MAX

/*
 * Sends later requests to `targets` targets, at most REQUEST_TARGETS_MAX. `before[i]` is the
 * previous index of target i, whose requests in progress the balance still counts, or
 * REQUEST_TARGET_NEW.
 */
SS_NONNULL()
void request_generator_retarget(
    struct request_generator *generator, const uint32_t *before, uint32_t targets);

/* Counts unfinished requests by label, from 0 to `labels` - 1. */
SS_NONNULL()
SS_WRITES(2, 3)
void request_generator_count_unfinished(
    const struct request_generator *generator, uint64_t *counts, size_t labels);

/*
 * Ends `one`, which is then no longer valid. The transport calls this; call
 * request_generator_advance() soon afterwards, because another request may now be sent.
 */
SS_NONNULL()
void request_generator_finish_request(struct request_generator *generator,
    struct request_in_flight *one, enum request_outcome outcome, uint64_t bytes, ss_time now);

/* Returns whether sending has ended and no request is in progress. */
SS_MUST_USE SS_NONNULL() bool request_generator_is_over(const struct request_generator *generator);

/* Returns when the run ended: at the end of sending or of the last request, whichever is later. */
SS_MUST_USE SS_NONNULL() ss_time
    request_generator_end_time(const struct request_generator *generator);

/* Ends sending: abandons requests that were not sent; the transport finishes those in progress. */
SS_NONNULL() void request_generator_stop(struct request_generator *generator, ss_time now);

/* Sends the requests that are due, as far as the cap permits, and ends sending. */
SS_NONNULL() void request_generator_end(struct request_generator *generator, ss_time now);

/* Ends sending, and abandons requests in progress as unfinished. The transport must forget them. */
SS_NONNULL() void request_generator_abandon(struct request_generator *generator, ss_time now);

#endif
