/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sssim queue against queueing theory. */

#include <math.h>

#include <showstopper/random.h>

#include "queue_run.h"
#include "unit.h"

#define MS SS_MILLISECOND

/* The result of the last run. */
static struct {
    struct request_tally tally;
    struct queue_run_result end;
} measured;

/* One worker with 10 ms of work per request; at most 200 unfinished requests. */
static struct queue_run_options make(enum request_arrival arrival) {
    return (struct queue_run_options){
        .arrival = arrival,
        .rules = {.cap = 200},
        .timeout = 1000 * SS_SECOND,
        .seed = 1,
        .service = {.servers = 1, .workers = 1, .work = 10 * MS, .seed = 1},
        .duty = 1,
        .tau = 107 * MS,
    };
}

/* Sending ends with the profile, or as the rules say if `profile` is NULL. */
static void measure_profile(
    struct queue_run_options *options, const struct request_profile *profile) {
    struct ss_error error = {0};
    options->profile = profile;
    if (profile)
        options->rules.end = request_profile_length(profile);
    request_tally_close(&measured.tally); /* of the previous run */
    assert_succeeds(request_tally_open(&measured.tally, options->timeout, &error), error);
    assert_succeeds(queue_run(options, &measured.tally, &measured.end, &error), error);
    const struct request_tally *tally = &measured.tally;
    uint64_t succeeded = tally->outcomes[REQUEST_SUCCESS];
    assert_int_equal(tally->intended, tally->sent + tally->refused + tally->waiting);
    assert_int_equal(tally->sent, succeeded + request_tally_failed(tally) + tally->unfinished);
    assert_int_equal(tally->unfinished, 0);
    assert_that(tally->unfinished_max, <=, options->rules.cap);
}

static void measure(struct queue_run_options *options, double rate, ss_time length) {
    struct ss_error error = {0};
    struct request_profile profile = {0};
    assert_succeeds(request_profile_constant(&profile, rate, length, &error), error);
    measure_profile(options, &profile);
    request_profile_free(&profile);
}

/* Returns the mean of successes in seconds. */
static double mean(enum request_origin origin) {
    return ss_histogram_mean(&measured.tally.successes[origin]);
}

static double quantile(enum request_origin origin, double share) {
    return ss_histogram_quantile(&measured.tally.successes[origin], share);
}

#define assert_within(value, expected, part)                                                       \
    do {                                                                                           \
        double value_ = (value), expected_ = (expected);                                           \
        if (!(fabs(value_ - expected_) <= (part)*expected_))                                       \
            fail_msg("%s is %.9g, not %.9g", #value, value_, expected_);                           \
    } while (0)

/* Returns the mean response time with 4 workers and this offered load by Erlang's formula. */
static double erlang(double offered) {
    double term = 1, sum = 0;
    for (int k = 0; k < 4; k++) {
        sum += term;
        term *= offered / (k + 1);
    }
    double all_busy = term * 4 / (4 - offered);
    return 0.010 + all_busy / (sum + all_busy) / (400 - 100 * offered);
}

TEST(response_times_match_queueing_theory) {
    const struct {
        enum request_arrival arrival;
        int spread;
        uint32_t workers, cpus; /* 0 CPUs if they are not limited */
        double rate, mean, mean_within, p95, p95_within;
    } rows[] = {
        {REQUEST_EVEN, QUEUE_CONSTANT, 1, 0, 50, 0.010, 1e-6, 0.010, 1e-6},
        /* M/D/1 (Pollaczek-Khinchin): at a load of r, requests wait for r / (2 (1 - r)) of the
           work. */
        {REQUEST_POISSON, QUEUE_CONSTANT, 1, 0, 20, 0.01125, 0.01, NAN, 0},
        {REQUEST_POISSON, QUEUE_CONSTANT, 1, 0, 50, 0.015, 0.01, NAN, 0},
        /* 50 requests take 10, 20, ... 500 ms; the last one waits for 49 others. */
        {REQUEST_CONCURRENT, QUEUE_CONSTANT, 1, 0, 50, 0.255, 0.001, 0.480, 0.001},
        /* M/M/1: the response time is work / (1 - r), exponentially distributed like the work. */
        {REQUEST_POISSON, QUEUE_EXPONENTIAL, 1, 0, 50, 0.020, 0.02, 0.020 * log(20), 0.03},
        /* M/M/c */
        {REQUEST_POISSON, QUEUE_EXPONENTIAL, 4, 0, 320, erlang(3.2), 0.02, NAN, 0},
        /* Processor sharing, for which only the mean work matters. */
        {REQUEST_POISSON, QUEUE_CONSTANT, 100, 1, 20, 0.0125, 0.04, NAN, 0},
        {REQUEST_POISSON, QUEUE_CONSTANT, 100, 1, 60, 0.025, 0.04, NAN, 0},
        {REQUEST_POISSON, QUEUE_EXPONENTIAL, 100, 1, 60, 0.025, 0.04, NAN, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("row %zu\n", i);
        struct queue_run_options options = make(rows[i].arrival);
        options.service.spread = rows[i].spread;
        options.service.workers = rows[i].workers;
        options.service.cpus = rows[i].cpus;
        measure(&options, rows[i].rate, 4000 * SS_SECOND);
        assert_within((double)measured.tally.sent, 4000 * rows[i].rate, 0.01);
        assert_within(mean(REQUEST_INTENDED), rows[i].mean, rows[i].mean_within);
        if (!isnan(rows[i].p95))
            assert_within(quantile(REQUEST_INTENDED, 0.95), rows[i].p95, rows[i].p95_within);
    }
}

/* All 40 workers end at once, and the second half of the requests waits for the first. */
TEST(many_waiting_requests_are_sent_when_places_become_free) {
    struct queue_run_options options = make(REQUEST_CONCURRENT);
    options.rules.cap = 40;
    options.service.workers = 40;
    options.service.work = 250 * MS;
    measure(&options, 80, 100 * SS_SECOND);
    assert_within(mean(REQUEST_ACTUAL), 0.250, 1e-6);
    assert_within(mean(REQUEST_INTENDED), 0.375, 1e-6);
    assert_within(ss_histogram_mean(&measured.tally.lateness), 0.125, 1e-6);
    assert_within(measured.end.meter.busy_seconds, 8000 * 0.250, 1e-6);
}

TEST(closed_loop_response_time_is_clients_over_capacity) {
    struct queue_run_options options = make(REQUEST_EVEN);
    options.rules.clients = 10;
    options.settle = SS_SECOND;
    options.rules.end = 101 * SS_SECOND;
    measure_profile(&options, NULL);
    assert_within(mean(REQUEST_ACTUAL), 0.100, 0.001);
    assert_within((double)measured.tally.outcomes[REQUEST_SUCCESS], 10000, 0.002);
}

/* Otherwise clients that send after each answer would never reach the end of the run. */
TEST(the_shortest_answer_takes_a_nanosecond) {
    const double speed = 1e6;
    struct queue_run_options options = make(REQUEST_EVEN);
    options.service.speeds = &speed;
    options.service.work = SS_MICROSECOND;
    measure(&options, 1, 10 * SS_SECOND);
    assert_int_equal(measured.tally.sent, 10);
    assert_int_equal(measured.tally.successes[REQUEST_ACTUAL].min, 1);
}

/*
 * Eight requests of 400 ms, four at 0 and four at 1 s, time out after 900 ms. The third is worked
 * on in vain from 800 to 1200 ms, and so is the fourth unless it is skipped: then the fifth is in
 * time.
 */
TEST(queued_requests_time_out) {
    for (int given_up = QUEUE_SERVE; given_up <= QUEUE_SKIP; given_up++) {
        struct queue_run_options options = make(REQUEST_CONCURRENT);
        uint64_t in_time = given_up == QUEUE_SKIP ? 3 : 2;
        options.timeout = 900 * MS;
        options.service.work = 400 * MS;
        options.service.given_up = given_up;
        measure(&options, 4, 2 * SS_SECOND);
        assert_int_equal(measured.tally.sent, 8);
        assert_int_equal(measured.tally.outcomes[REQUEST_SUCCESS], in_time);
        assert_int_equal(measured.tally.outcomes[REQUEST_TIMEOUT], 8 - in_time);
        assert_within(quantile(REQUEST_ACTUAL, 1), 0.8, 1e-6);
        assert_within(ss_histogram_quantile(&measured.tally.all[REQUEST_ACTUAL], 1), 0.9, 1e-6);
        /* The last one times out exactly at the end of the run. */
        assert_int_equal(measured.end.wasted, given_up == QUEUE_SKIP ? 2 : 3);
    }
}

/*
 * Returns the successful share of all due requests, with a limit of 2 s and 20 % more requests than
 * the capacity.
 */
static double overload(uint64_t cap, enum request_when_full when_full, int given_up) {
    struct queue_run_options options = make(REQUEST_POISSON);
    options.timeout = 2 * SS_SECOND;
    options.rules.cap = cap;
    options.rules.when_full = when_full;
    options.service.given_up = given_up;
    measure(&options, 120, 600 * SS_SECOND);
    double done = (double)measured.tally.outcomes[REQUEST_SUCCESS];
    if (given_up == QUEUE_SERVE)
        assert_within(done + (double)measured.end.wasted, 60000, 0.01);
    double share = done / (double)measured.tally.intended;
    return share;
}

/* The same figures are in showstopper-requests(7). */
TEST(overloaded_service_wastes_work_unless_it_skips_or_drops) {
    assert_within(overload(10000, REQUEST_DELAY, QUEUE_SERVE), 0.018, 0.05);
    assert_within(overload(10000, REQUEST_DELAY, QUEUE_SKIP), 0.58, 0.01);
    assert_within(overload(150, REQUEST_DROP, QUEUE_SERVE), 100 / 120.0, 0.01);
}

/* Each request is answered exactly at the limit, which is in time, or times out. */
TEST(requests_that_end_free_a_place_for_due_requests) {
    for (ss_time work = 10 * MS; work <= 20 * MS; work += 10 * MS) {
        struct queue_run_options options = make(REQUEST_EVEN);
        enum request_outcome outcome = work > 10 * MS ? REQUEST_TIMEOUT : REQUEST_SUCCESS;
        options.timeout = 10 * MS;
        options.service.work = work;
        options.rules.cap = 1;
        options.rules.when_full = REQUEST_DROP;
        measure(&options, 100, 10 * SS_SECOND);
        assert_int_equal(measured.tally.outcomes[outcome], 1000);
        assert_int_equal(measured.tally.refused, 0);
    }
}

/*
 * A fraction 1 - D of the requests arrives during a stop. They wait for the rest of it, which is
 * uniform from 0 to (1 - D) tau.
 */
TEST(stops_add_their_remaining_time_to_responses) {
    const double tau = 0.107, work = 10e-6;
    for (int quarter = 1; quarter <= 3; quarter++) {
        struct queue_run_options options = make(REQUEST_POISSON);
        double duty = quarter / 4.0;
        options.service.work = 10 * SS_MICROSECOND;
        options.duty = duty;
        measure(&options, 20, 10000 * SS_SECOND);
        assert_within(mean(REQUEST_INTENDED) - work, (1 - duty) * (1 - duty) * tau / 2, 0.01);
        assert_within(quantile(REQUEST_INTENDED, 0.95), (0.95 - duty) * tau, 0.01);
    }
}

/*
 * The server is stopped for 1 s in every 10 s. With one request at a time, times from the actual
 * sending hide nearly all of it.
 */
TEST(cap_hides_a_stop_from_actual_response_times) {
    const uint64_t caps[] = {1000, 1};
    for (int i = 0; i < 2; i++) {
        struct queue_run_options options = make(REQUEST_EVEN);
        options.rules.cap = caps[i];
        options.service.work = 10 * SS_MICROSECOND;
        options.duty = 0.9;
        options.tau = 10 * SS_SECOND;
        measure(&options, 200, 1000 * SS_SECOND);
        assert_within(quantile(REQUEST_INTENDED, 0.95), 0.5, 0.02);
        assert_within(quantile(REQUEST_INTENDED, 0.99), 0.9, 0.02);
        double hidden = quantile(REQUEST_ACTUAL, 0.99);
        if (caps[i] == 1)
            assert_within(hidden, 10e-6, 0.001);
        else
            assert_within(hidden, 0.9, 0.02);
    }
}

/*
 * Means over some seeds, in seconds from the actual sending, and the successful share of sent
 * requests.
 */
struct looks {
    double mean, p95, mean_of_all, successes;
};

static struct looks look(enum request_balance balance) {
    const double speeds[] = {1, 0.5};
    const int seeds = 5;
    struct looks looks = {0};
    struct ss_error error = {0};
    struct request_profile steps = {0};
    assert_succeeds(request_profile_step(&steps, 140, 5, 2 * SS_SECOND, &error), error);
    for (int i = 0; i < seeds; i++) {
        struct queue_run_options options = make(REQUEST_POISSON);
        options.rules.balance = balance;
        options.timeout = 10 * SS_SECOND;
        options.seed = options.service.seed = (uint64_t)i;
        options.service.servers = 2;
        options.service.speeds = speeds;
        options.service.work = 30 * MS;
        options.service.spread = QUEUE_EXPONENTIAL;
        measure_profile(&options, &steps);
        const struct request_tally *tally = &measured.tally;
        looks.mean += mean(REQUEST_ACTUAL) / seeds;
        looks.p95 += quantile(REQUEST_ACTUAL, 0.95) / seeds;
        looks.mean_of_all += ss_histogram_mean(&tally->all[REQUEST_ACTUAL]) / seeds;
        looks.successes += (double)tally->outcomes[REQUEST_SUCCESS] / (double)tally->sent / seeds;
    }
    request_profile_free(&steps);
    return looks;
}

/*
 * As published, here with steps of 2 s: with least connections the mean of successes is worse and
 * their 95th percentile better. With round robin, a quarter of the requests times out at the slower
 * server and is not a success.
 */
TEST(excluding_timeouts_makes_least_connections_look_worse) {
    struct looks turns = look(REQUEST_ROUND_ROBIN);
    struct looks fewest = look(REQUEST_LEAST_CONNECTIONS);
    assert_that(fewest.mean, >, 1.5 * turns.mean);
    assert_that(fewest.p95, <, 0.9 * turns.p95);
    assert_that(fewest.mean_of_all, <, 0.9 * turns.mean_of_all);
    assert_that(turns.successes, <, 0.8);
    assert_that(fewest.successes, ==, 1);
}

static double between(uint64_t *random, double min, double max) {
    return min + ss_random_next(random) * (max - min);
}

static uint64_t pick(uint64_t *random, uint64_t min, uint64_t max) {
    return min + (uint64_t)between(random, 0, (double)(max - min + 1));
}

static struct queue_run_options make_any(uint64_t *random) {
    struct queue_run_options options = make((enum request_arrival)pick(random, 0, 2));
    options.seed = options.service.seed = pick(random, 0, 1000000);
    options.service.servers = (uint32_t)pick(random, 1, 3);
    options.service.workers = (uint32_t)pick(random, 1, 8);
    options.service.work = pick(random, MS, 50 * MS);
    options.service.spread = pick(random, 0, 1) ? QUEUE_EXPONENTIAL : QUEUE_CONSTANT;
    options.service.given_up = pick(random, 0, 1) ? QUEUE_SKIP : QUEUE_SERVE;
    options.rules.balance = REQUEST_LEAST_CONNECTIONS;
    return options;
}

/* In requests per second. */
static double capacity_of(const struct queue_run_options *options) {
    double workers = (double)queue_service_workers(&options->service);
    return workers / ss_time_seconds(options->service.work);
}

/* Little's law: the cap is always reached, so the response time is the cap over the throughput. */
static void check_overload(uint64_t *random) {
    struct queue_run_options options = make_any(random);
    double capacity = capacity_of(&options), min = 30000;
    options.rules.cap = 2 * queue_service_workers(&options.service) * pick(random, 1, 10);
    double cap = (double)options.rules.cap;
    options.settle = ss_time_from_double((3000 + 10 * cap) / capacity * 1e9) + 2 * SS_SECOND;
    double rate = capacity * between(random, 1.25, 4);
    ss_time length = options.settle + ss_time_from_double(min / capacity * 1e9);
    measure(&options, rate, length);
    double done = (double)measured.tally.outcomes[REQUEST_SUCCESS];
    double throughput = done / ss_time_seconds(measured.end.end - options.settle);
    assert_int_equal(measured.tally.unfinished_max, options.rules.cap);
    assert_within(mean(REQUEST_ACTUAL) * throughput, cap, 0.01 + cap / min);
    assert_within(throughput, capacity, 0.03 + cap / min);
    assert_int_equal(request_tally_failed(&measured.tally), 0);
}

/*
 * With any timeouts, refusals and stops, no worker works more than the elapsed time, and no answer
 * takes less than its work or more than the limit.
 */
static void check_bounds(uint64_t *random) {
    struct queue_run_options options = make_any(random);
    double capacity = capacity_of(&options);
    double rate = capacity * between(random, 0.1, 2);
    options.service.spread = QUEUE_CONSTANT;
    options.rules.cap = pick(random, 1, 300);
    options.rules.when_full = pick(random, 0, 1) ? REQUEST_DROP : REQUEST_DELAY;
    options.rules.max = pick(random, 0, 1) ? pick(random, 1, 3000) : 0;
    options.timeout = options.service.work * pick(random, 2, 40);
    options.duty = pick(random, 0, 1) ? between(random, 0.3, 0.9) : 1;
    measure(&options, rate, ss_time_from_double(5000 / rate * 1e9));
    const struct request_tally *tally = &measured.tally;
    uint64_t succeeded = tally->outcomes[REQUEST_SUCCESS];
    double done = (double)(succeeded + measured.end.wasted);
    assert_that(done, <=, capacity * ss_time_seconds(measured.end.end) * 1.000001);
    assert_true(options.rules.max == 0 || tally->intended <= options.rules.max);
    assert_int_equal(request_tally_failed(tally), tally->outcomes[REQUEST_TIMEOUT]);
    if (succeeded > 0) {
        const struct ss_histogram *answers = &tally->successes[REQUEST_ACTUAL];
        assert_that(answers->min + 1, >=, options.service.work);
        assert_that(answers->max, <=, options.timeout);
    }
}

TEST(queueing_laws_hold_for_random_settings) {
    uint64_t random = 7;
    for (int i = 0; i < 60; i++) {
        check_overload(&random);
        check_bounds(&random);
    }
}

/*
 * The last request may be one of many due at once, wait, or be refused: the first 207 are 200 of
 * four seconds and 7 of the fifth.
 */
TEST(exactly_the_requested_number_of_requests_is_sent) {
    for (int i = 0; i < 4; i++) {
        struct queue_run_options options = make(i < 3 ? REQUEST_CONCURRENT : REQUEST_POISSON);
        options.rules.max = 207;
        options.rules.cap = i == 0 ? 200 : 5;
        options.rules.when_full = i == 2 ? REQUEST_DROP : REQUEST_DELAY;
        measure(&options, 50, 100 * SS_SECOND);
        assert_int_equal(measured.tally.intended, 207);
        assert_int_equal(measured.tally.sent, i == 2 ? 5 * 5 : 207);
        assert_int_equal(measured.tally.refused, i == 2 ? 4 * 45 + 2 : 0);
        if (i == 0 || i == 2)
            assert_int_equal(measured.end.sending, 4 * SS_SECOND);
        assert_that(measured.end.end, >=, measured.end.sending + 10 * MS);
        assert_that(measured.end.end, <, 8 * SS_SECOND);
    }
}

/* Clients that all send at once must not exceed the number. */
TEST(closed_loop_clients_send_the_requested_number_of_requests) {
    for (uint64_t max = 1; max <= 25; max += 6) {
        struct queue_run_options options = make(REQUEST_EVEN);
        options.rules.clients = 10;
        options.rules.end = SS_TIME_NEVER;
        options.rules.max = max;
        options.service.workers = 10;
        measure_profile(&options, NULL);
        assert_int_equal(measured.tally.intended, max);
        assert_int_equal(measured.tally.sent, max);
        assert_int_equal(measured.end.sending, (max - 1) / 10 * 10 * MS);
        assert_int_equal(measured.end.end, (max + 9) / 10 * 10 * MS);
    }
}

UNIT_RUN
