/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include <showstopper/random.h>

#include "capacity.h"
#include "chance.h"
#include "unit.h"

TEST(capacity_criteria_are_parsed) {
    struct request_criterion criterion;
    assert_int_equal(request_criterion_parse("mean=1s", &criterion, NULL), 0);
    assert_true(criterion.is_mean);
    assert_int_equal(criterion.limit, SS_SECOND);
    assert_int_equal(request_criterion_parse("p99.9=500m", &criterion, NULL), 0);
    assert_false(criterion.is_mean);
    assert_near(criterion.share, 0.999, 1e-12);
    assert_int_equal(criterion.limit, SS_SECOND / 2);
    static const char *const wrong[] = {"", "mean", "=1s", "mean=", "mean=1", "p=1s", "p0=1s",
        "p101=1s", "median=1s", "mean=0", "pmean=1s", "p95=2s=3s", "a_long_name_of_a_figure=1s"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ss_error error = {0};
        if (request_criterion_parse(wrong[i], &criterion, &error) != -1 || !error.status)
            fail_msg("'%s' was accepted", wrong[i]);
    }
}

static void end_count(
    struct request_tally *tally, unsigned count, ss_time length, enum request_outcome outcome) {
    for (unsigned i = 0; i < count; i++) {
        struct request_ended ended = {0, length / 2, length, outcome, 0, 0};
        request_tally_due(tally);
        request_tally_send(tally, 0, length / 2);
        request_tally_end(tally, &ended);
    }
}

TEST(capacity_criteria_count_all_intended_requests) {
    struct ss_error error = {0};
    struct request_tally tally;
    struct request_criterion mean = {.is_mean = true, .limit = SS_SECOND};
    struct request_criterion p90 = {.share = 0.9, .limit = 1001 * SS_MILLISECOND};
    assert_int_equal(request_tally_open(&tally, SS_SECOND, &error), 0);
    assert_false(request_criterion_holds(&mean, &tally)); /* no request yet */
    end_count(&tally, 900, SS_SECOND, REQUEST_SUCCESS);
    assert_true(
        request_criterion_holds(&mean, &tally)); /* exactly at the limit, from the intended time */
    assert_true(request_criterion_holds(&p90, &tally));
    end_count(&tally, 90, SS_SECOND * 3 / 2, REQUEST_SUCCESS);
    assert_false(request_criterion_holds(&mean, &tally));
    assert_true(request_criterion_holds(&p90, &tally)); /* 900 of 990 */
    end_count(&tally, 10, 10, REQUEST_CONNECTION_REFUSED);
    assert_true(request_criterion_holds(&p90, &tally)); /* 99 % */
    /* Quick failures do not improve the mean. */
    assert_that(request_criterion_figure(&mean, &tally), >, 1.045);
    request_tally_due(&tally); /* a waiting request is not a success */
    assert_false(request_criterion_holds(&p90, &tally));
    request_tally_clear(&tally);
    end_count(&tally, 995, SS_SECOND / 2, REQUEST_SUCCESS);
    end_count(&tally, 5, 1000 * SS_SECOND, REQUEST_TIMEOUT);
    assert_false(request_criterion_holds(&mean, &tally)); /* slow failures worsen the mean */
    request_tally_close(&tally);
}

static void add_trial(struct request_capacity *capacity, double rate, bool held) {
    request_capacity_add(
        capacity, &(struct request_trial){.rate = rate, .held = held, .steady = true});
}

/* Returns the mean response time of a single server with constant work and Poisson arrivals. */
static double mean_response(double rate, double work) {
    double busy = rate * work;
    return busy < 1 ? work + busy * work / (2 * (1 - busy)) : INFINITY;
}

/* Returns the rate at which the mean response time is `response`. */
static double rate_of_mean(double response, double work) {
    double queued = 2 * (response - work) / work;
    return queued / (1 + queued) / work;
}

static struct request_capacity capacity;

static void begin(double start) {
    struct request_search search = {.start = start, .max = 1e6, .precision = 0.02, .repeats = 5};
    request_capacity_begin(&capacity, &search);
}

/*
 * Searches the capacity for a mean of at most 50 ms, with 10 ms of work. The mean of a trial varies
 * with a standard deviation of `noise`.
 */
static struct request_capacity_result search(double start, double noise, uint64_t *random) {
    begin(start);
    for (double rate; request_capacity_next(&capacity, &rate);) {
        double off = noise > 0 ? chance_draw_lognormal(random, noise) : 1;
        add_trial(&capacity, rate, mean_response(rate, 0.01) * off <= 0.05);
    }
    return request_capacity_result(&capacity);
}

TEST(search_without_noise_finds_the_true_capacity) {
    static const double starts[] = {0.5, 1, 33, 88, 90, 500, 20000};
    double truth = rate_of_mean(0.05, 0.01);
    assert_near(truth, 800.0 / 9, 1e-9);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct request_capacity_result result = search(starts[i], 0, NULL);
        assert_true(result.sure);
        assert_that(result.held.rate, <=, truth);
        assert_that(truth, <, result.failed.rate);
        assert_that(result.failed.rate - result.held.rate, <=, 0.02 * result.failed.rate);
        assert_int_equal(result.held.held, 5);
        assert_int_equal(result.failed.failed, 5);
        assert_int_equal(result.held.failed + result.failed.held, 0);
        assert_that(capacity.trial_count, <=, 28);
    }
}

TEST(noise_widens_a_correct_interval) {
    static const double noises[] = {0.05, 0.2, 0.5};
    double truth = rate_of_mean(0.05, 0.01), last_width = 0.02;
    uint64_t random = 11;
    for (size_t i = 0; i < 3; i++) {
        unsigned right = 0;
        double width = 0;
        for (unsigned j = 0; j < 400; j++) {
            struct request_capacity_result result = search(10, noises[i], &random);
            assert_true(result.agreed);
            double part = (result.failed.rate - result.held.rate) / result.failed.rate;
            assert_int_equal(result.sure, part <= REQUEST_SURE_WIDTH);
            assert_int_equal(result.held.failed + result.failed.held, 0);
            assert_that(result.held.held, >=, 5);
            assert_that(result.failed.failed, >=, 5);
            right += result.held.rate <= truth && truth < result.failed.rate;
            width += (result.failed.rate - result.held.rate) / result.failed.rate / 400;
            assert_that(capacity.trial_count, <=, 70);
        }
        assert_that(right, >=, 370);
        assert_that(width, <, 4 * fmax(noises[i], 0.02));
        assert_that(width, >, last_width * 0.9);
        last_width = width;
    }
}

TEST(search_ends_if_trials_succeed_at_random) {
    uint64_t random = 3;
    for (unsigned i = 0; i < 200; i++) {
        begin(100);
        for (double rate; request_capacity_next(&capacity, &rate);) {
            assert_that(capacity.trial_count, <, REQUEST_TRIALS_MAX);
            assert_that(rate, >, 0);
            assert_true(isfinite(rate));
            add_trial(&capacity, rate, ss_random_next(&random) < 0.5);
        }
        struct request_capacity_result result = request_capacity_result(&capacity);
        for (size_t j = 0; j < capacity.rate_count; j++) {
            const struct request_trials *it = &capacity.rates[j];
            assert_true(it->failed == 0 || it->rate > result.held.rate);
            assert_true(it->held == 0 || result.failed.rate == 0 || it->rate < result.failed.rate);
        }
    }
}

/* A first trial fails by accident, far below the capacity. */
TEST(accidental_failure_widens_the_capacity_interval) {
    begin(10);
    bool accident = true;
    for (double rate; request_capacity_next(&capacity, &rate);) {
        bool held = rate < 89;
        if (rate == 40 && accident)
            held = accident = false;
        add_trial(&capacity, rate, held);
    }
    struct request_capacity_result result = request_capacity_result(&capacity);
    assert_true(result.agreed);
    assert_false(result.sure); /* the interval is too wide */
    assert_that(result.held.rate, <, 40);
    assert_that(result.failed.rate, >, 40);
}

/* One of the five trials that held had rising times, so the lower end is not certain. */
TEST(nonstationary_trial_turns_the_capacity_into_a_bound) {
    begin(80);
    unsigned at_the_end = 0;
    for (double rate; request_capacity_next(&capacity, &rate);) {
        bool last = capacity.rate_count > 5 && rate == 80;
        at_the_end += last;
        request_capacity_add(
            &capacity, &(struct request_trial){.rate = rate, .held = rate <= 80, .steady = !last});
    }
    struct request_capacity_result result = request_capacity_result(&capacity);
    assert_that(at_the_end, >, 0);
    assert_true(result.agreed && result.upper_bound);
    assert_false(result.sure);
}

TEST(search_without_a_capacity_finds_one_bound) {
    for (int held = 0; held < 2; held++) {
        begin(3);
        capacity.search.max = 1000;
        for (double rate; request_capacity_next(&capacity, &rate);) {
            assert_that(rate, <=, 1000);
            add_trial(&capacity, rate, held);
        }
        struct request_capacity_result result = request_capacity_result(&capacity);
        assert_in_range(capacity.trial_count, 5, 14);
        assert_false(result.sure);
        assert_near(result.held.rate, held ? 1000 : 0, 0);
        assert_int_equal(result.held.held, held ? 5 : 0);
        assert_near(result.failed.rate, 0, held ? 0 : 0.1);
    }
}

/* The upper end says nothing about the service if the generator was the reason of a failure. */
TEST(trial_limited_by_the_generator_gives_a_lower_bound) {
    static const struct request_trial causes[] = {
        {.generator_is_limit = true}, {.resource_failures = 1}};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        begin(80);
        for (double rate; request_capacity_next(&capacity, &rate);) {
            struct request_trial trial = causes[i];
            trial.rate = rate;
            trial.held = trial.steady = rate <= 80;
            request_capacity_add(&capacity, &trial);
        }
        struct request_capacity_result result = request_capacity_result(&capacity);
        assert_true(result.agreed && result.lower_bound);
        assert_false(result.sure);
        assert_int_equal(result.failed.limited, 5);
        assert_int_equal(result.failed.short_of_resources, i == 1 ? 5 : 0);
        assert_int_equal(result.held.limited, 0); /* trials that hold are not limited */
    }
}

UNIT_RUN
