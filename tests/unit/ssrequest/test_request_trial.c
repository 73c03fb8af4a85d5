/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of how long the trials of a search last and of the result of the search, against a queue in
 * virtual time.
 */

#include <math.h>

#include <showstopper/random.h>

#include "capacity.h"
#include "capacity_trial.h"
#include "chance.h"
#include "request_life.h"

TEST(independent_times_are_stationary) {
    unsigned reached = 0, rises = 0;
    for (uint64_t random = 1, i = 0; i < 200; i++) {
        struct request_batches batches = {0};
        for (int j = 0; j < 500; j++)
            request_batches_add(&batches, -log(1 - ss_random_next(&random)));
        reached += request_batches_are_steady(&batches, 1);
        rises += request_batches_rise(&batches);
    }
    assert_in_range(reached, 180, 198);
    assert_in_range(rises, 0, 5);
}

TEST(rising_times_are_not_stationary) {
    for (int j = 16; j < 3000; j = j * 3 / 2) {
        struct request_batches batches = {0};
        for (int i = 0; i < j; i++)
            request_batches_add(&batches, 1 + i);
        assert_false(request_batches_are_steady(&batches, 1));
        assert_true(request_batches_rise(&batches));
    }
}

/*
 * Each time depends on about 20 before it: three times as many are too few for a run, 1000 times as
 * many suffice.
 */
TEST(correlated_times_need_a_long_run) {
    unsigned early = 0, late = 0;
    uint64_t random = 5;
    for (int i = 0; i < 100; i++) {
        struct request_batches batches = {0};
        double value = 0;
        for (int j = 0; j < 20000; j++) {
            value = 0.95 * value + ss_random_next(&random) - 0.5;
            request_batches_add(&batches, 2 + value);
            if (j == 60)
                early += request_batches_are_steady(&batches, 1);
        }
        late += request_batches_are_steady(&batches, 1);
    }
    assert_in_range(early, 0, 30);
    assert_in_range(late, 80, 100);
}

TEST(few_times_are_stationary_only_without_a_queue) {
    struct request_batches batches = {0};
    assert_false(request_batches_are_steady(&batches, 1));
    for (int i = 0; i < 16; i++)
        request_batches_add(&batches, i);
    assert_false(request_batches_are_steady(&batches, 100));
    assert_true(request_batches_are_steady(&batches, 1000));
}

/*
 * Trials of a queue with one worker and 10 ms per request, hence at most 100 requests per second.
 */

static struct life life;
static struct request_trial_watch watch;

static void see(void *context, const struct request_in_flight *one, enum request_fate fate,
    const struct request_ended *ended) {
    request_trial_observe(context, one, fate, ended);
    life_observe(&life, one, fate, ended);
}

/* Runs a trial as capacity_run.c does over the network. */
static struct request_trial try_rate(
    double rate, const struct request_criterion *criterion, ss_time duration, uint64_t seed) {
    memset(&life, 0, sizeof life);
    ss_time period = duration / REQUEST_TRIAL_STAGE, end = 0;
    assert_int_equal(
        request_profile_constant(&life.profile, rate, period * REQUEST_TRIAL_PERIODS, NULL), 0);
    life.rules.cap = 500;
    life.work = 10 * SS_MILLISECOND;
    life_begin(&life, REQUEST_POISSON, seed);
    watch = (struct request_trial_watch){
        .criterion = criterion, .tally = &life.tally, .period = period};
    request_generator_set_observer(life.generator, see, &watch);
    do
        life_run(&life, end += period);
    while (!request_trial_step(&watch));
    request_generator_end(life.generator, end);
    life_run(&life, SS_TIME_NEVER);
    /* Waiting for the last answers may take long and must not change the counts. */
    uint64_t counted = life.tally.outcomes[REQUEST_SUCCESS];
    for (int i = 0; i < REQUEST_TRIAL_PERIODS; i++)
        assert_false(request_trial_step(&watch));
    assert_int_equal(life.tally.outcomes[REQUEST_SUCCESS], counted);
    struct request_trial trial = {
        .rate = rate,
        .held = request_criterion_holds(criterion, &life.tally),
        .steady = watch.is_steady,
        .measured = request_trial_measured(&watch),
    };
    life_end(&life);
    return trial;
}

/* Each trial needs its own seed; the same arrival times would repeat the same trial. */
static struct request_capacity_result search(
    const struct request_criterion *criterion, ss_time duration, uint64_t seed) {
    static struct request_capacity capacity;
    struct request_search search = {.start = 10, .max = 1e6, .precision = 0.02, .repeats = 5};
    request_capacity_begin(&capacity, &search);
    for (double rate; request_capacity_next(&capacity, &rate);) {
        struct request_trial trial =
            try_rate(rate, criterion, duration, seed + capacity.trial_count);
        request_capacity_add(&capacity, &trial);
    }
    return request_capacity_result(&capacity);
}

/*
 * With 10 ms per request, no rate above 100 is sustainable, whatever the limit, although the queue
 * is still short after 1 s.
 */
TEST(trial_under_overload_is_not_stationary) {
    const struct request_criterion limit = {.is_mean = true, .limit = SS_SECOND};
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct request_trial trial = try_rate(105, &limit, SS_SECOND, seed);
        assert_false(trial.held && trial.steady);
        trial = try_rate(120, &limit, SS_SECOND, seed);
        assert_false(trial.held);
        trial = try_rate(30, &limit, SS_SECOND, seed);
        assert_true(trial.held && trial.steady);
    }
}

TEST(short_trials_do_not_overstate_the_capacity) {
    /* The mean of M/D/1 is 50 ms at 88.9 requests a second, and 1 s at 99.5. */
    static const struct {
        ss_time limit;
        double truth;
    } all[] = {{50 * SS_MILLISECOND, 800.0 / 9}, {SS_SECOND, 198.0 / 199 * 100}};
    unsigned sure = 0, right = 0;
    for (size_t i = 0; i < 2; i++) {
        const struct request_criterion limit = {.is_mean = true, .limit = all[i].limit};
        for (ss_time duration = SS_SECOND; duration <= 16 * SS_SECOND; duration *= 4) {
            for (uint64_t seed = 0; seed < 40; seed++) {
                struct request_capacity_result result = search(&limit, duration, 1000 * seed);
                bool above = result.held.rate > all[i].truth;
                /* Rates that cannot hold forever are reported as bounds. */
                assert_true(result.held.rate < 101 || result.upper_bound);
                sure += result.sure;
                right += result.sure && !above && all[i].truth < result.failed.rate;
            }
        }
    }
    assert_that(sure, >, 80);
    assert_that(right, >=, 0.95 * sure);
}

UNIT_RUN
