/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "measure/throughput.h"
#include "unit.h"

static struct ss_throughput open_at(double second) {
    return (struct ss_throughput){.from = (ss_time)(second * 1e9)};
}

static void add(struct ss_throughput *throughput, double start, double end) {
    ss_throughput_add(throughput, (ss_time)(start * 1e9), (ss_time)(end * 1e9));
}

static void assert_iterations(
    const struct ss_throughput *throughput, size_t interval, double want) {
    double have = ss_throughput_rate(throughput, interval) * 6;
    if (fabs(have - want) > 1e-9)
        fail_msg("interval %zu: %g iterations, not %g", interval, have, want);
}

TEST(iteration_within_an_interval_adds_one) {
    struct ss_throughput throughput = open_at(100);
    add(&throughput, 101, 102);
    add(&throughput, 102, 105.9);
    add(&throughput, 106, 112);
    assert_iterations(&throughput, 0, 2);
    assert_iterations(&throughput, 1, 1);
    assert_iterations(&throughput, 2, 0);
    ss_throughput_free(&throughput);
}

TEST(long_iteration_is_split_over_intervals) {
    struct ss_throughput throughput = open_at(0);
    add(&throughput, 3, 27); /* 24 s = 3 + 6 + 6 + 6 + 3 */
    assert_iterations(&throughput, 0, 0.125);
    assert_iterations(&throughput, 1, 0.25);
    assert_iterations(&throughput, 2, 0.25);
    assert_iterations(&throughput, 3, 0.25);
    assert_iterations(&throughput, 4, 0.125);
    ss_throughput_free(&throughput);
}

TEST(iteration_that_began_before_counting_counts_in_part) {
    struct ss_throughput throughput = open_at(10);
    add(&throughput, 4, 12);
    assert_iterations(&throughput, 0, 0.25);
    add(&throughput, 1, 9);
    assert_iterations(&throughput, 0, 0.25);
    add(&throughput, 4, 10);
    assert_iterations(&throughput, 0, 0.25);
    ss_throughput_free(&throughput);
}

TEST(only_complete_throughput_intervals_are_counted) {
    struct ss_throughput throughput = open_at(0);
    add(&throughput, 5, 13);
    assert_int_equal(ss_throughput_count(&throughput, 12 * SS_SECOND), 2);
    assert_int_equal(ss_throughput_count(&throughput, 12 * SS_SECOND - 1), 1);
    assert_int_equal(ss_throughput_count(&throughput, 0), 0);
    assert_iterations(&throughput, 0, 0.125);
    assert_iterations(&throughput, 1, 0.75);
    ss_throughput_free(&throughput);
}

TEST(zero_length_iteration_counts_in_its_interval) {
    struct ss_throughput throughput = open_at(0);
    add(&throughput, 7, 7);
    add(&throughput, 12, 12);
    add(&throughput, 9, 8); /* disagreeing clocks */
    assert_iterations(&throughput, 0, 0);
    assert_iterations(&throughput, 1, 2);
    assert_iterations(&throughput, 2, 1);
    ss_throughput_free(&throughput);
}

/* Iterations overlap arbitrarily, but each adds one in total. */
TEST(throughput_of_a_hundred_instances_adds_up) {
    struct ss_throughput throughput = open_at(50);
    int count = 0;
    for (int instance = 0; instance < 100; instance++) {
        double at = 50 + instance * 0.137;
        for (int i = 0; i < 40; i++, count++) {
            double length = 0.05 + (instance * 31 + i * 17) % 97 / 7.0;
            add(&throughput, at, at + length);
            at += length;
        }
    }
    double sum = 0;
    for (size_t i = 0; i < 1000; i++)
        sum += ss_throughput_rate(&throughput, i) * 6;
    assert_near(sum, count, 1e-6);
    ss_throughput_free(&throughput);
}

TEST(iterations_before_counting_begins_are_ignored) {
    struct ss_throughput throughput = {.from = SS_TIME_NEVER};
    add(&throughput, 1, 2);
    assert_int_equal(ss_throughput_count(&throughput, SS_TIME_NEVER), 0);
    assert_null(throughput.parts);
    /* An invalid time must not allocate memory. */
    throughput.from = 0;
    ss_throughput_add(&throughput, 0, SS_TIME_NEVER);
    assert_null(throughput.parts);
}

UNIT_RUN
