/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_REQUEST_LIFE_H
#define SHOWSTOPPER_TESTS_REQUEST_LIFE_H

/* A generator in virtual time with a service: a single first-come-first-served server. */

#include "generator.h"
#include "unit.h"

#define LIFE_CAP_MAX 1000

struct life {
    struct request_profile profile;
    struct request_schedule schedule;
    struct request_tally tally;
    struct request_rules rules;
    struct request_generator *generator;
    ss_time now;
    ss_time work;                 /* of one request */
    enum request_outcome outcome; /* of all requests */
    ss_time idle_from;            /* when the server will have completed all requests sent */
    struct {
        struct request_in_flight *one;
        ss_time finish;
    } served[LIFE_CAP_MAX]; /* ring buffer, in order */
    unsigned first, count;
    uint64_t sent;
    uint64_t sent_to[REQUEST_TARGETS_MAX];
    uint64_t last_number;
    ss_time last_due;
    uint64_t fates[4];
};

static inline void life_send(void *context, struct request_in_flight *one) {
    struct life *life = context;
    assert_int_equal(one->sent, life->now);
    assert_that(one->due, <=, one->sent);
    assert_true(life->sent == 0 || one->number > life->last_number);
    assert_that(one->slot, <, life->rules.cap);
    assert_that(life->count, <, life->rules.cap);
    assert_that(one->due, >=, life->last_due);
    life->last_number = one->number;
    life->last_due = one->due;
    life->sent++;
    life->sent_to[one->target]++;
    ss_time begin = life->now > life->idle_from ? life->now : life->idle_from;
    ss_time finish = begin + life->work;
    life->idle_from = finish;
    unsigned place = (life->first + life->count++) % LIFE_CAP_MAX;
    life->served[place].one = one;
    life->served[place].finish = finish;
}

static inline void life_observe(void *context, const struct request_in_flight *one,
    enum request_fate fate, const struct request_ended *ended) {
    struct life *life = context;
    bool sent = fate == REQUEST_ENDED || fate == REQUEST_UNFINISHED;
    assert_that((one->sent == SS_TIME_NEVER), ==, !sent);
    assert_int_equal(one->due, ended->due);
    assert_int_equal(one->sent, ended->sent);
    assert_int_equal(ended->finished, life->now);
    life->fates[fate]++;
}

static inline void life_check(const struct life *life) {
    const struct request_tally *tally = &life->tally;
    assert_int_equal(tally->intended, tally->sent + tally->refused + tally->waiting);
    assert_int_equal(tally->sent,
        tally->outcomes[REQUEST_SUCCESS] + request_tally_failed(tally) + tally->unfinished);
    assert_that(tally->unfinished, <=, life->rules.cap);
    assert_that(tally->unfinished_max, <=, life->rules.cap);
}

/*
 * Begins a life that is zeroed except for rules, work and profile; it ends with its profile if the
 * rules set no end.
 */
static inline void life_begin(struct life *life, enum request_arrival arrival, uint64_t seed) {
    struct ss_error error = {0};
    struct request_transport transport = {life_send, life};
    if (life->rules.targets == 0)
        life->rules.targets = 1;
    if (life->rules.end == 0)
        life->rules.end = request_profile_length(&life->profile);
    request_schedule_begin(&life->schedule, &life->profile, arrival, seed);
    assert_int_equal(request_tally_open(&life->tally, 10 * SS_SECOND, &error), 0);
    assert_succeeds(request_generator_open(&life->generator, &life->rules, &life->schedule,
                        &transport, &life->tally, &error),
        error);
    request_generator_set_observer(life->generator, life_observe, life);
}

static inline void life_end(struct life *life) {
    request_generator_close(life->generator);
    request_tally_close(&life->tally);
    request_profile_free(&life->profile);
}

/*
 * Executes the next event. If none is due before `until`, sets the time to `until` and returns
 * false.
 */
static inline bool life_go(struct life *life, ss_time until) {
    ss_time finish = life->count > 0 ? life->served[life->first].finish : SS_TIME_NEVER;
    ss_time next = request_generator_deadline(life->generator);
    next = next < life->now ? life->now : next;
    ss_time then = finish < next ? finish : next;
    if (then >= until) {
        life->now = until;
        return false;
    }
    life->now = then;
    if (finish <= next) {
        struct request_in_flight *one = life->served[life->first].one;
        life->first = (life->first + 1) % LIFE_CAP_MAX;
        life->count--;
        request_generator_finish_request(life->generator, one, life->outcome, 100, life->now);
    } else {
        request_generator_advance(life->generator, life->now);
    }
    life_check(life);
    return true;
}

static inline void life_run(struct life *life, ss_time until) {
    while (life_go(life, until)) {
    }
}

#endif
