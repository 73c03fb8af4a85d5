/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ssrequest/schedule.h"
#include "unit.h"

static struct ssrequest_profile profile;
static struct ssrequest_schedule schedule;

static int forget(void **state) {
    (void)state;
    ssrequest_profile_free(&profile);
    return 0;
}

static void make_constant(double rate, ss_time duration) {
    struct ss_error error = {0};
    ssrequest_profile_free(&profile);
    if (ssrequest_profile_constant(&profile, rate, duration, &error) != 0)
        fail_msg("%s", error.message);
}

static void make_step(double max, double step, ss_time hold) {
    struct ss_error error = {0};
    ssrequest_profile_free(&profile);
    if (ssrequest_profile_step(&profile, max, step, hold, &error) != 0)
        fail_msg("%s", error.message);
}

static ss_time next(void) {
    ss_time due;
    return ssrequest_schedule_next(&schedule, &due) ? due : SS_TIME_NEVER;
}

/* How many become due in each second; the rest of them is 0. */
static void count_by_second(enum ssrequest_arrival arrival, unsigned *counts, size_t seconds) {
    memset(counts, 0, seconds * sizeof *counts);
    ssrequest_schedule_begin(&schedule, &profile, arrival, 1);
    ss_time last = 0;
    for (ss_time due; (due = next()) != SS_TIME_NEVER; last = due) {
        assert_true(due >= last);
        assert_true(due / SS_SECOND < seconds);
        counts[due / SS_SECOND]++;
    }
}

static void the_published_steps_are_exact(void **state) {
    (void)state;
    make_step(140, 5, 2 * SS_SECOND);
    assert_int_equal(profile.count, 28);
    assert_int_equal(ssrequest_profile_length(&profile), 56 * SS_SECOND);
    static const enum ssrequest_arrival arrivals[] = {SSREQUEST_EVEN, SSREQUEST_CONCURRENT};
    for (size_t i = 0; i < 2; i++) {
        unsigned counts[60];
        count_by_second(arrivals[i], counts, 60);
        for (unsigned second = 0; second < 60; second++)
            assert_int_equal(counts[second], second < 56 ? second / 2 * 5 : 0);
    }
}

static void even_ones_are_equally_far_apart(void **state) {
    (void)state;
    make_constant(3, 2 * SS_SECOND);
    ssrequest_schedule_begin(&schedule, &profile, SSREQUEST_EVEN, 1);
    static const ss_time moments[] = {
        0, 333333333, 666666667, 1000000000, 1333333333, 1666666667, SS_TIME_NEVER};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
        assert_true(next() == moments[i]);
}

static void concurrent_ones_come_with_the_second(void **state) {
    (void)state;
    make_constant(2.5, 3500 * SS_MILLISECOND);
    ssrequest_schedule_begin(&schedule, &profile, SSREQUEST_CONCURRENT, 1);
    /* 2.5 a second, half of which is carried on, and half a second at the end. */
    static const unsigned seconds[] = {0, 0, 1, 1, 1, 2, 2, 3};
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        assert_int_equal(next(), seconds[i] * SS_SECOND);
    assert_true(next() == SS_TIME_NEVER);
}

static void an_hour_does_not_drift(void **state) {
    (void)state;
    static const double rates[] = {1.0 / 3, 7, 1000, 997.3};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        make_constant(rates[i], 3600 * SS_SECOND);
        ssrequest_schedule_begin(&schedule, &profile, SSREQUEST_EVEN, 1);
        uint64_t count = 0;
        for (ss_time due; (due = next()) != SS_TIME_NEVER; count++) {
            double truth = (double)count / rates[i] * 1e9;
            if (fabs((double)due - truth) > 1)
                fail_msg("number %llu at %g: %llu, the truth %.3f", (unsigned long long)count,
                    rates[i], (unsigned long long)due, truth);
        }
        assert_int_equal(count, (uint64_t)ceil(rates[i] * 3600 - 1e-6));
    }
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test_teardown(the_published_steps_are_exact, forget),
    cmocka_unit_test_teardown(even_ones_are_equally_far_apart, forget),
    cmocka_unit_test_teardown(concurrent_ones_come_with_the_second, forget),
    cmocka_unit_test_teardown(an_hour_does_not_drift, forget))
