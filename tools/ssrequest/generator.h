/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_GENERATOR_H
#define SSREQUEST_GENERATOR_H

/*
 * Sends requests when they are due, or when those before them have ended. It knows no clock and no
 * network: it is told what time it is, and sends through a transport. ssrequest's is libcurl in
 * real time, that of sssim a queue in virtual time.
 */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

#include "ssrequest/balance.h"
#include "ssrequest/schedule.h"
#include "ssrequest/tally.h"

#define SSREQUEST_TARGETS_MOST 64

/* A request under way. Moments count from the begin of the run. */
struct ssrequest_one {
    uint64_t number; /* from 0, in the order in which they are due */
    ss_time due, sent;
    uint32_t target;
    uint32_t slot; /* from 0 to the cap: the transport may keep what it needs of it there */
};

struct ssrequest_transport {
    /* Begins it. Never ends it within this call: what fails at once is told later. */
    void (*send)(void *context, struct ssrequest_one *one);
    void *context;
};

/* In the order of the option's choices. */
enum ssrequest_when_full {
    SSREQUEST_DELAY, /* it waits, and so do those behind it */
    SSREQUEST_DROP,
};

struct ssrequest_rules {
    uint64_t cap; /* unfinished ones at most; at least 1 */
    enum ssrequest_when_full when_full;
    uint64_t closed;  /* clients that each send after their answer; 0: the schedule says when */
    ss_time end;      /* no request is sent then or later */
    uint32_t targets; /* at least 1 */
    enum ssrequest_balance balance;
};

/* Told of every request that has ended, or that was refused or abandoned; may be NULL. */
typedef void ssrequest_witness(
    void *context, const struct ssrequest_one *one, const struct ssrequest_ended *ended);

struct ssrequest_generator;

/* `schedule` is NULL with `closed`. The tally is the caller's. */
int ssrequest_generator_open(struct ssrequest_generator **generator,
    const struct ssrequest_rules *rules, struct ssrequest_schedule *schedule,
    const struct ssrequest_transport *transport, struct ssrequest_tally *tally,
    struct ss_error *error);
void ssrequest_generator_close(struct ssrequest_generator *generator);

void ssrequest_generator_watch(
    struct ssrequest_generator *generator, ssrequest_witness *witness, void *context);

/* Sends all that is due and may be sent. */
void ssrequest_generator_advance(struct ssrequest_generator *generator, ss_time now);

/* When advance() is to be called next; SS_TIME_NEVER: when a request has ended, or never. */
ss_time ssrequest_generator_next(const struct ssrequest_generator *generator);

/* The transport tells: `one` has ended, and is no longer valid. advance() is to be called soon. */
void ssrequest_generator_finish(struct ssrequest_generator *generator, struct ssrequest_one *one,
    enum ssrequest_outcome outcome, uint64_t bytes, ss_time now);

/* Nothing is sent any more and nothing is under way. */
bool ssrequest_generator_is_over(const struct ssrequest_generator *generator);

/* Ends sending; what waits is abandoned, what is under way is finished by the transport. */
void ssrequest_generator_stop(struct ssrequest_generator *generator, ss_time now);

/* Gives up what is under way, too: it is unfinished. The transport forgets it. */
void ssrequest_generator_abandon(struct ssrequest_generator *generator, ss_time now);

#endif
