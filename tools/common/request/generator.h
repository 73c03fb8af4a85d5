/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_GENERATOR_H
#define SSREQUEST_GENERATOR_H

/*
 * Sends requests when they are due, or when those before them have ended. It knows no clock and no
 * network: it is given the time, and sends through a transport. ssrequest's is libcurl in
 * real time, that of sssim a queue in virtual time.
 */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

#include "balance.h"
#include "schedule.h"
#include "tally.h"

#define SSREQUEST_TARGETS_MAX 64

/* A request under way. Moments count from the begin of the run. */
struct ssrequest_one {
    uint64_t number; /* from 0, in the order in which they are due */
    ss_time due, sent;
    uint32_t target; /* from 0, of those that it could be sent to */
    uint32_t label;  /* the same, counted on over the targets of each retarget() */
    uint32_t status; /* of its answer, if the transport sets it: see struct ssrequest_ended */
    uint32_t slot;   /* from 0 to the cap: the transport may keep what it needs of it there */
};

struct ssrequest_transport {
    /* Begins it, and may set `sent` to a later moment: the last of many at once is sent later than
     * the first. Never ends it within this call: immediate failures are reported later. */
    void (*send)(void *context, struct ssrequest_one *one);
    void *context;
};

/* In the order of the option's choices. */
enum ssrequest_when_full {
    SSREQUEST_DELAY, /* it waits, and so do later ones; with 2^24 waiting it is refused */
    SSREQUEST_DROP,
};

struct ssrequest_rules {
    uint64_t cap; /* unfinished ones at most; at least 1 */
    enum ssrequest_when_full when_full;
    /* Clients that each send after their answer, 10 ms after a failure; 0: the schedule says when.
     */
    uint64_t closed;
    /* Waiting requests are not sent then or later, and clients do not send. Requests that were due
     * before are sent even if advance() is called late. It is not over before: the rate may be
     * turned up again. SS_TIME_NEVER: it is over when the schedule is. */
    ss_time end;
    uint64_t most;    /* requests that become due in all; 0: as many as there are until `end` */
    uint32_t targets; /* at least 1 */
    enum ssrequest_balance balance;
    /* The targets of requests in turn, instead of the balance; NULL: it chooses. */
    const uint32_t *order;
    uint64_t order_count;
};

/* The outcome of a request. */
enum ssrequest_fate {
    SSREQUEST_ENDED,
    SSREQUEST_REFUSED,    /* at the cap; never sent */
    SSREQUEST_NEVER_SENT, /* it still waited when the sending ended */
    SSREQUEST_UNFINISHED, /* it was given up */
};

/*
 * Told of every request at its end, one way or the other. `ended->finished` is that moment;
 * `ended->sent` and `one->sent` are SS_TIME_NEVER where it was never sent; outcome and bytes say
 * something of SSREQUEST_ENDED only.
 */
typedef void ssrequest_witness(void *context, const struct ssrequest_one *one,
    enum ssrequest_fate fate, const struct ssrequest_ended *ended);

struct ssrequest_generator;

/* `schedule` is NULL with `closed`. Schedule and tally are the caller's. */
int ssrequest_generator_open(struct ssrequest_generator **generator,
    const struct ssrequest_rules *rules, struct ssrequest_schedule *schedule,
    const struct ssrequest_transport *transport, struct ssrequest_tally *tally,
    struct ss_error *error);
void ssrequest_generator_close(struct ssrequest_generator *generator);

void ssrequest_generator_watch(
    struct ssrequest_generator *generator, ssrequest_witness *witness, void *context);

/* Sends what is due and may be sent, but not more than a few at once: next() is now if there are
 * others. */
void ssrequest_generator_advance(struct ssrequest_generator *generator, ss_time now);

/* When advance() is to be called next; SS_TIME_NEVER: when a request has ended, or never. */
ss_time ssrequest_generator_next(const struct ssrequest_generator *generator);

/* From `now` on so many requests per second, see ssrequest_schedule_turn(). Not with `closed`. */
void ssrequest_generator_turn(struct ssrequest_generator *generator, ss_time now, double rate);

#define SSREQUEST_TARGET_NEW UINT32_MAX

/*
 * Requests that are sent from now on go to `targets` targets, at most SSREQUEST_TARGETS_MAX.
 * `before[i]` is the number that target i had until now, or SSREQUEST_TARGET_NEW: the balance keeps
 * counting requests that are under way to it.
 */
void ssrequest_generator_retarget(
    struct ssrequest_generator *generator, const uint32_t *before, uint32_t targets);

/* The transport tells: `one` has ended, and is no longer valid. advance() is to be called soon. */
void ssrequest_generator_finish(struct ssrequest_generator *generator, struct ssrequest_one *one,
    enum ssrequest_outcome outcome, uint64_t bytes, ss_time now);

/* Nothing is sent any more and nothing is under way. */
bool ssrequest_generator_is_over(const struct ssrequest_generator *generator);

/* When that happened, known a little later: the end of sending or of the last request. */
ss_time ssrequest_generator_over(const struct ssrequest_generator *generator);

/* Ends sending; what waits is abandoned, what is under way is finished by the transport. */
void ssrequest_generator_stop(struct ssrequest_generator *generator, ss_time now);

/* Likewise, but what is due by then is sent first, as far as the cap permits. */
void ssrequest_generator_end(struct ssrequest_generator *generator, ss_time now);

/* Gives up what is under way, too: it is unfinished. The transport forgets it. */
void ssrequest_generator_abandon(struct ssrequest_generator *generator, ss_time now);

#endif
