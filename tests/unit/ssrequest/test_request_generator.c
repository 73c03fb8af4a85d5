/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <showstopper/random.h>

#include "request_life.h"

static struct life life;

/* Ends the previous life and prepares a new one. */
static void make(double rate, ss_time duration, uint64_t cap) {
    struct ss_error error = {0};
    life_end(&life);
    memset(&life, 0, sizeof life);
    assert_int_equal(request_profile_constant(&life.profile, rate, duration, &error), 0);
    life.rules.cap = cap;
    life.work = SS_MILLISECOND / 10;
}

TEST(drop_policy_refuses_requests_beyond_the_cap) {
    make(10, SS_SECOND, 3);
    life.rules.when_full = REQUEST_DROP;
    life.work = 10 * SS_SECOND;
    life_begin(&life, REQUEST_EVEN, 1);
    life_run(&life, SS_TIME_NEVER);
    assert_true(request_generator_is_over(life.generator));
    assert_int_equal(life.tally.intended, 10);
    assert_int_equal(life.tally.sent, 3);
    assert_int_equal(life.tally.refused, 7);
    assert_int_equal(life.fates[REQUEST_REFUSED], 7);
    assert_int_equal(life.fates[REQUEST_ENDED], 3);
    assert_int_equal(life.tally.bytes, 300);
    assert_int_equal(life.tally.lateness.max, 0);
}

TEST(delayed_requests_are_unsent_at_the_end) {
    make(10, SS_SECOND, 1);
    life.work = 300 * SS_MILLISECOND;
    life_begin(&life, REQUEST_EVEN, 1);
    life_run(&life, 650 * SS_MILLISECOND);
    assert_int_equal(life.tally.sent, 3);
    assert_int_equal(life.tally.waiting, 4); /* due at 0.3 to 0.6 s */
    assert_int_equal(life.last_number, 2);
    life_run(&life, SS_TIME_NEVER);
    assert_true(request_generator_is_over(life.generator));
    assert_int_equal(life.tally.sent, 4); /* at 0, 0.3, 0.6, 0.9 s */
    assert_int_equal(life.tally.waiting, 6);
    assert_int_equal(life.fates[REQUEST_NEVER_SENT], 6);
    assert_int_equal(life.tally.lateness.max, 600 * SS_MILLISECOND);
    assert_int_equal(life.tally.all[REQUEST_INTENDED].count, 10);
    assert_int_equal(life.tally.all[REQUEST_ACTUAL].count, 4);
}

TEST(client_pauses_for_ten_milliseconds_after_a_failure) {
    make(1, SS_SECOND, 10);
    life.rules.clients = 2;
    life.work = 1;
    life.outcome = REQUEST_CONNECTION_REFUSED;
    life_begin(&life, REQUEST_EVEN, 1);
    life_run(&life, SS_TIME_NEVER);
    assert_int_equal(life.tally.outcomes[REQUEST_CONNECTION_REFUSED], 200);
}

TEST(clients_beyond_the_cap_wait) {
    static const enum request_when_full answers[] = {REQUEST_DELAY, REQUEST_DROP};
    for (size_t i = 0; i < 2; i++) {
        make(1, SS_SECOND, 2);
        life.rules.clients = 5;
        life.rules.when_full = answers[i];
        life.work = SS_MILLISECOND;
        life_begin(&life, REQUEST_EVEN, 1);
        life_run(&life, 500 * SS_MILLISECOND);
        assert_int_equal(life.tally.unfinished_max, 2);
        assert_in_range(life.tally.sent, 499, 502);
        assert_that((life.tally.refused > 0), ==, (i == 1));
        life_run(&life, SS_TIME_NEVER);
        assert_true(request_generator_is_over(life.generator));
    }
}

TEST(request_rate_can_be_changed_during_a_run) {
    make(1, 10 * SS_SECOND, 10);
    life_begin(&life, REQUEST_EVEN, 1);
    life_run(&life, 2500 * SS_MILLISECOND);
    assert_int_equal(life.tally.sent, 3);
    request_generator_set_rate(life.generator, life.now, 100);
    life_run(&life, 4500 * SS_MILLISECOND);
    assert_in_range(life.tally.sent, 3 + 199, 3 + 201);
    request_generator_set_rate(life.generator, life.now, 0);
    uint64_t sent = life.tally.sent;
    life_run(&life, 8 * SS_SECOND);
    assert_int_equal(life.tally.sent, sent);
    assert_false(request_generator_is_over(life.generator));
    request_generator_set_rate(life.generator, life.now, 10);
    /* Requests due before a change are still sent. */
    life.now = 9 * SS_SECOND - 1; /* no advance() yet */
    request_generator_set_rate(life.generator, life.now, 100);
    assert_in_range(life.tally.sent, sent + 9, sent + 10);
    life_run(&life, SS_TIME_NEVER);
    assert_in_range(life.tally.sent, sent + 109, sent + 111);
    assert_true(request_generator_is_over(life.generator));
}

static const uint32_t all_new[REQUEST_TARGETS_MAX] = {
    REQUEST_TARGET_NEW, REQUEST_TARGET_NEW, REQUEST_TARGET_NEW, REQUEST_TARGET_NEW};

static const uint32_t some_stay[] = {REQUEST_TARGET_NEW, 0, 2, REQUEST_TARGET_NEW};

TEST(requests_alternate_between_targets_that_can_be_replaced) {
    make(100, SS_SECOND, 100);
    life.rules.targets = 3;
    life_begin(&life, REQUEST_EVEN, 1);
    life.work = 200 * SS_MILLISECOND;
    life_run(&life, 295 * SS_MILLISECOND);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(life.sent_to[i], 10);
    request_generator_retarget(life.generator, all_new, 2);
    life_run(&life, 495 * SS_MILLISECOND);
    assert_int_equal(life.sent_to[0], 20);
    assert_int_equal(life.sent_to[1], 20);
    assert_int_equal(life.sent_to[2], 10);
    life_run(&life, SS_TIME_NEVER);
    assert_int_equal(life.tally.outcomes[REQUEST_SUCCESS], 100);
}

/* The timer is late: it fires at 1 s, not at 0.9 s, when the last request is due. */
TEST(overdue_requests_do_not_overtake_waiting_ones) {
    make(10, SS_SECOND, 1);
    life.work = 950 * SS_MILLISECOND;
    life_begin(&life, REQUEST_EVEN, 1);
    life_run(&life, 850 * SS_MILLISECOND);
    assert_int_equal(life.tally.waiting, 8);
    life.now = 950 * SS_MILLISECOND;
    request_generator_finish_request(
        life.generator, life.served[0].one, REQUEST_SUCCESS, 0, life.now);
    life.now = SS_SECOND;
    request_generator_advance(life.generator, life.now);
    assert_int_equal(life.tally.sent, 1);
    assert_int_equal(life.tally.waiting, 9);
}

/* The queue of waiting requests is a ring that grows from any position. */
TEST(waiting_requests_keep_their_order) {
    make(1000, 10 * SS_SECOND, 1);
    life.rules.end = SS_TIME_NEVER;
    life.work = 3 * SS_MILLISECOND;
    life_begin(&life, REQUEST_EVEN, 1);
    for (unsigned i = 0; i < 10000; i++) {
        life_run(&life, (i + 1) * SS_MILLISECOND);
        assert_true(life.tally.sent == 0 || life.last_due == life.last_number * SS_MILLISECOND);
    }
    life_run(&life, SS_TIME_NEVER);
    assert_int_equal(life.last_due, 9999 * SS_MILLISECOND);
    assert_int_equal(life.tally.sent, 10000);
}

/* Between batches, the caller of advance() handles answers and timers. */
TEST(many_due_requests_are_sent_in_batches) {
    for (int closed = 0; closed < 2; closed++) {
        make(500, SS_SECOND, LIFE_CAP_MAX);
        life.rules.clients = closed ? 500 : 0;
        life_begin(&life, REQUEST_CONCURRENT, 1);
        uint64_t before = 0;
        while (request_generator_deadline(life.generator) == 0) {
            request_generator_advance(life.generator, 0);
            assert_in_range(life.tally.sent - before, 1, 20);
            before = life.tally.sent;
        }
        assert_int_equal(life.tally.sent, 500);
    }
}

TEST(requests_due_when_sending_stops_are_counted) {
    make(500, SS_SECOND, LIFE_CAP_MAX);
    life_begin(&life, REQUEST_CONCURRENT, 1);
    request_generator_advance(life.generator, 0);
    uint64_t sent = life.tally.sent;
    assert_that(sent, <, 500);
    request_generator_stop(life.generator, 0);
    assert_int_equal(life.tally.intended, 500);
    assert_int_equal(life.tally.waiting, 500 - sent);
    assert_int_equal(life.fates[REQUEST_NEVER_SENT], 500 - sent);
    life_check(&life);
    request_generator_stop(life.generator, 1);
    assert_int_equal(life.tally.intended, 500);
}

TEST(requests_due_before_or_at_the_end_are_sent) {
    static const struct {
        double rate;
        ss_time duration, ran, called, end; /* ms; an end of 0 is that of the profile */
        uint64_t sent;
    } rows[] = {
        /* Timers are always slightly late. */
        {10, 1000, 850, 1001, 0, 10},
        /* If the call is late, all due requests are sent even after the end of the profile. */
        {500, 1000, 0, 2000, 0, 500},
        /* At 20 per second, one request is due exactly at the end of the second. */
        {20, 2000, 999, 1000, 1000, 21},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        make(rows[i].rate, rows[i].duration * SS_MILLISECOND, LIFE_CAP_MAX);
        life_begin(&life, REQUEST_EVEN, 1);
        life_run(&life, rows[i].ran * SS_MILLISECOND);
        life.now = rows[i].called * SS_MILLISECOND; /* no advance() yet */
        if (rows[i].end > 0)
            request_generator_end(life.generator, life.now);
        life_run(&life, SS_TIME_NEVER);
        assert_int_equal(life.tally.intended, rows[i].sent);
        assert_int_equal(life.tally.outcomes[REQUEST_SUCCESS], rows[i].sent);
        assert_int_equal(life.tally.waiting, 0);
        assert_true(request_generator_is_over(life.generator));
        life_check(&life);
    }
}

TEST(generator_reports_when_it_ended) {
    make(1, 10 * SS_SECOND, 10);
    life.rules.end = 15 * SS_SECOND; /* no request is due in the last 5 s */
    life_begin(&life, REQUEST_EVEN, 1);
    life_run(&life, 15 * SS_SECOND);
    assert_false(request_generator_is_over(life.generator));
    assert_that(request_generator_deadline(life.generator), ==, 15 * SS_SECOND);
    /* The call is late, after the end. */
    request_generator_advance(life.generator, 15 * SS_SECOND + SS_MILLISECOND);
    assert_true(request_generator_is_over(life.generator));
    assert_that(request_generator_end_time(life.generator), ==, 15 * SS_SECOND);

    make(1, 10 * SS_SECOND, 10);
    life.work = 3 * SS_SECOND / 2;
    life_begin(&life, REQUEST_CONCURRENT, 1);
    life_run(&life, SS_TIME_NEVER);
    assert_that(request_generator_end_time(life.generator), ==, 15 * SS_SECOND);

    make(1, 10 * SS_SECOND, 10);
    life_begin(&life, REQUEST_EVEN, 1);
    life_run(&life, 4 * SS_SECOND + 1);
    life.work = SS_SECOND;
    life_run(&life, 5 * SS_SECOND + 1);
    request_generator_stop(life.generator, life.now);
    assert_that(request_generator_end_time(life.generator), ==, 5 * SS_SECOND + 1);
    life.now += 2;
    request_generator_abandon(life.generator, life.now);
    assert_that(request_generator_end_time(life.generator), ==, 5 * SS_SECOND + 3);
}

/* The queue is limited to 2^24 requests of eight bytes. */
TEST(waiting_requests_beyond_the_queue_limit_are_refused) {
    const uint64_t max = 1 << 24;
    make(1e6, 17 * SS_SECOND, 1);
    life.work = SS_SECOND * 100;
    life_begin(&life, REQUEST_CONCURRENT, 1);
    life_run(&life, 17 * SS_SECOND);
    assert_int_equal(life.tally.waiting, max);
    assert_int_equal(life.tally.refused, 17000000 - max - 1);
}

TEST(targets_are_used_in_the_given_order) {
    static const uint32_t order[] = {2, 0, 2, 2};
    make(100, SS_SECOND, 100);
    life.rules.targets = 3;
    life.rules.order = order;
    life.rules.order_count = 4;
    life_begin(&life, REQUEST_EVEN, 1);
    life_run(&life, SS_TIME_NEVER);
    assert_int_equal(life.sent_to[0], 25);
    assert_int_equal(life.sent_to[1], 0);
    assert_int_equal(life.sent_to[2], 75);
}

TEST(unfinished_requests_to_removed_targets_do_not_count_as_load) {
    make(100, SS_SECOND, 100);
    life.rules.targets = 2;
    life.rules.balance = REQUEST_LEAST_CONNECTIONS;
    life.work = 5 * SS_MILLISECOND;
    life_begin(&life, REQUEST_EVEN, 1);
    life_run(&life, SS_MILLISECOND);
    assert_int_equal(life.sent_to[0], 1);
    request_generator_retarget(life.generator, all_new, 2); /* the first request is unfinished */
    life_run(&life, SS_TIME_NEVER);
    assert_int_equal(life.sent_to[0], 51);
    assert_int_equal(life.sent_to[1], 49);
}

/* One of two targets is stuck with 10 requests; it remains, in another position. */
TEST(remaining_targets_keep_unfinished_requests) {
    const uint32_t before[] = {REQUEST_TARGET_NEW, 0};
    uint64_t counts[4];
    make(100, SS_SECOND, 100);
    life.rules.targets = 2;
    life.rules.balance = REQUEST_LEAST_CONNECTIONS;
    life.work = 20 * SS_SECOND;
    life_begin(&life, REQUEST_EVEN, 1);
    life_run(&life, 195 * SS_MILLISECOND);
    assert_int_equal(life.sent_to[0], 10);
    assert_int_equal(life.sent_to[1], 10);
    request_generator_retarget(life.generator, before, 2);
    life_run(&life, 295 * SS_MILLISECOND);
    assert_int_equal(life.sent_to[0], 20);
    assert_int_equal(life.sent_to[1], 10);
    life_run(&life, 495 * SS_MILLISECOND);
    assert_int_equal(life.sent_to[0], 30);
    assert_int_equal(life.sent_to[1], 20);
    /* The targets before and after the change. */
    request_generator_count_unfinished(life.generator, counts, 4);
    assert_int_equal(counts[0], 10);
    assert_int_equal(counts[1], 10);
    assert_int_equal(counts[2], 20);
    assert_int_equal(counts[3], 10);
    life_run(&life, SS_TIME_NEVER);
    assert_int_equal(life.tally.outcomes[REQUEST_SUCCESS], 100);
    request_generator_count_unfinished(life.generator, counts, 4);
    assert_int_equal(counts[0] + counts[1] + counts[2] + counts[3], 0);
}

static ss_time clock_of_sending;

static void send_slowly(void *context, struct request_in_flight *one) {
    (void)context;
    clock_of_sending += SS_MILLISECOND;
    one->sent = clock_of_sending;
}

/* Sends ten requests at once, each of which takes a millisecond to send. */
TEST(lateness_is_measured_at_the_actual_sending) {
    const struct request_transport slow = {send_slowly, NULL};
    struct ss_error error = {0};
    make(10, SS_SECOND, 10);
    life_begin(&life, REQUEST_CONCURRENT, 1);
    request_generator_close(life.generator);
    clock_of_sending = 0;
    assert_int_equal(request_generator_open(
                         &life.generator, &life.rules, &life.schedule, &slow, &life.tally, &error),
        0);
    request_generator_advance(life.generator, 0);
    assert_int_equal(life.tally.sent, 10);
    assert_int_equal(life.tally.lateness.min, SS_MILLISECOND);
    assert_int_equal(life.tally.lateness.max, 10 * SS_MILLISECOND);
    request_generator_abandon(life.generator, 15 * SS_MILLISECOND);
    assert_int_equal(life.tally.all[REQUEST_ACTUAL].min, 5 * SS_MILLISECOND);
}

TEST(invalid_generator_rules_are_refused) {
    static const struct request_rules wrong[] = {
        {.cap = 0, .targets = 1},
        {.cap = 1, .targets = 0},
        {.cap = 1, .targets = REQUEST_TARGETS_MAX + 1},
        {.cap = UINT32_MAX, .targets = 1},
        {.cap = 1, .targets = 1, .clients = UINT32_MAX},
    };
    struct request_transport transport = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ss_error error = {0};
        struct request_generator *generator;
        assert_int_equal(
            request_generator_open(&generator, &wrong[i], NULL, &transport, NULL, &error), -1);
        assert_null(generator);
        assert_that(error.status, !=, 0);
    }
    request_generator_close(NULL);
}

struct under_way {
    struct request_in_flight *one;
    ss_time finish;
};

struct random_life {
    uint64_t random;
    struct request_rules rules;
    ss_time now;
    double lasted;                  /* integral of unfinished requests over time, in ns */
    struct under_way under_way[64]; /* by slot */
    uint64_t fates[4];
    uint8_t seen[100000]; /* by number: whether it has ended */
};

static uint64_t draw(struct random_life *any, uint64_t below) {
    return (uint64_t)(ss_random_next(&any->random) * (double)below);
}

static void any_send(void *context, struct request_in_flight *one) {
    struct random_life *any = context;
    assert_null(any->under_way[one->slot].one);
    assert_that(one->due, <=, any->now);
    assert_that(one->target, <, any->rules.targets);
    ss_time length = draw(any, 5) == 0 ? draw(any, SS_SECOND) : draw(any, 20 * SS_MILLISECOND);
    any->under_way[one->slot] = (struct under_way){one, any->now + length};
}

static void observe_any(void *context, const struct request_in_flight *one, enum request_fate fate,
    const struct request_ended *ended) {
    struct random_life *any = context;
    (void)ended;
    assert_that(one->number, <, sizeof any->seen);
    assert_int_equal(any->seen[one->number], 0);
    any->seen[one->number] = 1;
    any->fates[fate]++;
}

static void go_to(struct random_life *any, const struct request_tally *tally, ss_time moment) {
    if (moment <= any->now)
        return;
    any->lasted += (double)tally->unfinished * (double)(moment - any->now);
    any->now = moment;
}

static struct under_way *first_to_finish(struct random_life *any) {
    struct under_way *first = NULL;
    for (unsigned i = 0; i < any->rules.cap; i++) {
        struct under_way *it = &any->under_way[i];
        if (it->one && (!first || it->finish < first->finish))
            first = it;
    }
    return first;
}

static void check_any(const struct random_life *any, const struct request_tally *tally) {
    uint64_t failed = request_tally_failed(tally);
    uint64_t succeeded = tally->outcomes[REQUEST_SUCCESS];
    uint64_t under_way = 0;
    for (unsigned i = 0; i < any->rules.cap; i++)
        under_way += any->under_way[i].one != NULL;
    assert_int_equal(tally->intended, tally->sent + tally->refused + tally->waiting);
    assert_int_equal(tally->sent, succeeded + failed + tally->unfinished);
    assert_int_equal(tally->unfinished, under_way);
    assert_that(tally->unfinished, <=, any->rules.cap);
    assert_true(any->rules.max == 0 || tally->intended <= any->rules.max);
    assert_int_equal(any->fates[REQUEST_ENDED], succeeded + failed);
    assert_int_equal(any->fates[REQUEST_REFUSED], tally->refused);
}

static void live(
    struct random_life *any, struct request_generator *generator, struct request_tally *tally) {
    for (unsigned step = 0; step < 5000 && !request_generator_is_over(generator); step++) {
        struct under_way *first = first_to_finish(any);
        ss_time next = request_generator_deadline(generator);
        assert_true(first || next != SS_TIME_NEVER);
        if (next != SS_TIME_NEVER)
            next += draw(any, 3) == 0 ? draw(any, 5 * SS_MILLISECOND) : 0; /* a late timer */
        if (first && first->finish <= next) {
            go_to(any, tally, first->finish);
            struct request_in_flight *one = first->one;
            first->one = NULL;
            enum request_outcome outcome =
                draw(any, 3) > 0 ? REQUEST_SUCCESS : draw(any, REQUEST_OUTCOMES);
            request_generator_finish_request(generator, one, outcome, draw(any, 1000), any->now);
        } else {
            go_to(any, tally, next);
            request_generator_advance(generator, any->now);
        }
        check_any(any, tally);
        uint64_t chance = draw(any, 1000);
        if (chance == 0)
            request_generator_stop(generator, any->now);
        else if (chance == 1)
            request_generator_retarget(generator, some_stay,
                (uint32_t)(any->rules.targets = (uint32_t)(1 + draw(any, 4))));
        else if (chance < 5 && any->rules.clients == 0)
            request_generator_set_rate(generator, any->now, (double)draw(any, 400));
        check_any(any, tally);
    }
}

static void live_once(uint64_t seed) {
    static struct random_life any;
    memset(&any, 0, sizeof any);
    any.random = seed;
    any.rules = (struct request_rules){
        .cap = 1 + draw(&any, 64),
        .when_full = draw(&any, 2) ? REQUEST_DROP : REQUEST_DELAY,
        .clients = draw(&any, 3) == 0 ? 1 + draw(&any, 80) : 0,
        .end = draw(&any, 4) == 0 ? SS_TIME_NEVER : draw(&any, 4 * SS_SECOND),
        .max = draw(&any, 3) == 0 ? 1 + draw(&any, 600) : 0,
        .targets = (uint32_t)(1 + draw(&any, 4)),
        .balance = draw(&any, 2) ? REQUEST_LEAST_CONNECTIONS : REQUEST_ROUND_ROBIN,
    };
    struct ss_error error = {0};
    struct request_profile profile = {0};
    struct request_schedule schedule;
    struct request_tally tally;
    struct request_generator *generator;
    struct request_transport transport = {any_send, &any};
    assert_int_equal(request_profile_step(&profile, 400, 100, 600 * SS_MILLISECOND, &error), 0);
    request_schedule_begin(&schedule, &profile, (enum request_arrival)draw(&any, 3), seed);
    assert_int_equal(request_tally_open(&tally, 0, &error), 0);
    assert_int_equal(
        request_generator_open(&generator, &any.rules, &schedule, &transport, &tally, &error), 0);
    request_generator_set_observer(generator, observe_any, &any);
    live(&any, generator, &tally);
    uint64_t under_way = tally.unfinished;
    request_generator_abandon(generator, any.now);
    assert_true(request_generator_is_over(generator));
    assert_that(request_generator_deadline(generator), ==, SS_TIME_NEVER);
    request_generator_advance(generator, any.now + SS_SECOND);
    assert_int_equal(tally.unfinished, under_way);
    check_any(&any, &tally);
    /* Every number ended exactly once. */
    assert_int_equal(any.fates[REQUEST_UNFINISHED], tally.unfinished);
    assert_int_equal(any.fates[REQUEST_NEVER_SENT], tally.waiting);
    const uint8_t *unseen = memchr(any.seen, 0, sizeof any.seen);
    assert_int_equal(unseen - any.seen, tally.intended);
    assert_int_equal(tally.all[REQUEST_INTENDED].count, tally.intended - tally.refused);
    assert_int_equal(tally.all[REQUEST_ACTUAL].count, tally.sent);
    assert_int_equal(tally.lateness.count, tally.sent);
    /* Little's law: the sum of response times is the integral of unfinished requests. */
    assert_near(tally.all[REQUEST_ACTUAL].sum, any.lasted, 1e-9 * any.lasted);
    request_generator_close(generator);
    request_tally_close(&tally);
    request_profile_free(&profile);
}

TEST(generator_invariants_hold_after_random_events) {
    for (uint64_t seed = 0; seed < 300; seed++)
        live_once(seed);
}

UNIT_RUN
