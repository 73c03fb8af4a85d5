/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the estimate that executors share while others race, are late or die. */

#include <pthread.h>

#include "feedback.h"

/* With 32 CPUs a sample is due every 5 ms, before a claim expires: the claim must be released. */
TEST(realtime_claim_is_released_after_a_sample) {
    RIG rig = rig_open("feedback/realtime", NULL, 3, 32);
    assert_true(wants(&rig, 0, 1000, 1000));
    sample_idle(&rig, 0, 1000, 0);
    assert_true(wants(&rig, 1, 1005, 1000));
    /* The claim is also released if the reading is useless. */
    sample_idle(&rig, 1, 1000, 0);
    assert_true(wants(&rig, 2, 1006, 1000));
}

/* Executor 0 dies while it holds the claim. */
TEST(realtime_claim_of_a_dead_executor_expires) {
    RIG rig = rig_open("feedback/realtime", NULL, 2, 4);
    assert_true(wants(&rig, 0, 1000, 1000));
    assert_false(wants(&rig, 1, 1009.999, 1000));
    assert_true(wants(&rig, 1, 1010.001, 1000));
}

struct racer {
    const struct rig *rig;
    pthread_barrier_t *barrier;
    uint32_t executor;
    unsigned won;
};

#define RACES 200

static void *race(void *argument) {
    struct racer *racer = argument;
    for (unsigned i = 0; i < RACES; i++) {
        /* Every race is for a sample that is due, after claims that have expired. */
        double now = 1000 + 100.0 * i;
        pthread_barrier_wait(racer->barrier);
        racer->won += wants(racer->rig, racer->executor, now, now);
    }
    return NULL;
}

TEST(only_one_of_concurrent_realtime_claims_succeeds) {
    RIG rig = rig_open("feedback/realtime", NULL, 2, 4);
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t threads[2];
    struct racer racers[2];
    for (uint32_t i = 0; i < 2; i++) {
        racers[i] = (struct racer){.rig = &rig, .barrier = &barrier, .executor = i};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (uint32_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(racers[0].won + racers[1].won, RACES);
    pthread_barrier_destroy(&barrier);
}

/*
 * Two executors begin control together and read 20 us apart, with one tick of idle time in between.
 * As a sample that would be (0.02 - 1) / 0.02 = -49, and the estimate would not be blended.
 */
TEST(realtime_ignores_readings_too_close_together) {
    RIG rig = rig_open("feedback/realtime", "100m", 2, 4);
    sample_idle(&rig, 0, 1000, 0);
    sample_idle(&rig, 1, 1000.02, 4);
    assert_that(estimate_of(&rig, 1), ==, -1);
    sample_idle(&rig, 0, 1040, 120);
    assert_near(estimate_of(&rig, 1), 0.25, 1e-12);
}

/*
 * A writer that was delayed while four others wrote resumes and corrupts the latest copy. The copy
 * is then unreadable, so executors keep their last estimate until the next sample.
 */
TEST(realtime_ignores_a_corrupted_notice) {
    RIG rig = rig_open("feedback/realtime", "100m", 3, 4);
    sample_idle(&rig, 0, 1000, 0);
    sample_idle(&rig, 0, 1040, 120);
    assert_near(estimate_of(&rig, 1), 0.25, 1e-12);
    struct ss_notice *notice = &((struct estimate_run *)rig.run)->notice;
    uint64_t latest = atomic_load(&notice->latest);
    atomic_store(&notice->copies[latest % SS_NOTICE_COPIES].ticket, 0);
    assert_near(estimate_of(&rig, 0), 0.25, 1e-12);
    assert_near(estimate_of(&rig, 1), 0.25, 1e-12);
    assert_that(estimate_of(&rig, 2), ==, -1);
    assert_false(wants(&rig, 1, 1079, 1000));
    assert_true(wants(&rig, 1, 1140, 1000));
    sample_idle(&rig, 1, 1140, 120);
    assert_near(estimate_of(&rig, 2), 0.625, 1e-12);
}

UNIT_RUN
