/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "measure/throughput.h"
#include "unit.h"

static struct ss_throughput throughput;

static void open_at(double second) {
    ss_throughput_free(&throughput);
    throughput = (struct ss_throughput){.from = (ss_time)(second * 1e9)};
}

static void add(double start, double end) {
    ss_throughput_add(&throughput, (ss_time)(start * 1e9), (ss_time)(end * 1e9));
}

static void assert_iterations(size_t interval, double want) {
    double have = ss_throughput_rate(&throughput, interval) * 6;
    if (fabs(have - want) > 1e-9)
        fail_msg("interval %zu: %g iterations, not %g", interval, have, want);
}

TEST(iteration_within_an_interval_adds_one) {
    open_at(100);
    add(101, 102);
    add(102, 105.9);
    add(106, 112);
    assert_iterations(0, 2);
    assert_iterations(1, 1);
    assert_iterations(2, 0);
}

TEST(long_iteration_is_split_over_intervals) {
    open_at(0);
    add(3, 27); /* 24 s = 3 + 6 + 6 + 6 + 3 */
    assert_iterations(0, 0.125);
    assert_iterations(1, 0.25);
    assert_iterations(2, 0.25);
    assert_iterations(3, 0.25);
    assert_iterations(4, 0.125);
}

TEST(iteration_that_began_before_counting_counts_in_part) {
    open_at(10);
    add(4, 12);
    assert_iterations(0, 0.25);
    add(1, 9);
    assert_iterations(0, 0.25);
    add(4, 10);
    assert_iterations(0, 0.25);
}

TEST(only_complete_throughput_intervals_are_counted) {
    open_at(0);
    add(5, 13);
    assert_int_equal(ss_throughput_count(&throughput, 12 * SS_SECOND), 2);
    assert_int_equal(ss_throughput_count(&throughput, 12 * SS_SECOND - 1), 1);
    assert_int_equal(ss_throughput_count(&throughput, 0), 0);
    assert_iterations(0, 0.125);
    assert_iterations(1, 0.75);
}

TEST(zero_length_iteration_counts_in_its_interval) {
    open_at(0);
    add(7, 7);
    add(12, 12);
    add(9, 8); /* disagreeing clocks */
    assert_iterations(0, 0);
    assert_iterations(1, 2);
    assert_iterations(2, 1);
}

/* Iterations overlap arbitrarily, but each adds one in total. */
TEST(throughput_of_a_hundred_instances_adds_up) {
    open_at(50);
    int count = 0;
    for (int instance = 0; instance < 100; instance++) {
        double at = 50 + instance * 0.137;
        for (int i = 0; i < 40; i++, count++) {
            double length = 0.05 + (instance * 31 + i * 17) % 97 / 7.0;
            add(at, at + length);
            at += length;
        }
    }
    double sum = 0;
    for (size_t i = 0; i < 1000; i++)
        sum += ss_throughput_rate(&throughput, i) * 6;
    assert_near(sum, count, 1e-6);
}

TEST(iterations_before_counting_begins_are_ignored) {
    open_at(0);
    throughput.from = SS_TIME_NEVER;
    add(1, 2);
    assert_int_equal(ss_throughput_count(&throughput, SS_TIME_NEVER), 0);
    assert_null(throughput.parts);
    /* An invalid time must not allocate memory. */
    throughput.from = 0;
    ss_throughput_add(&throughput, 0, SS_TIME_NEVER);
    assert_null(throughput.parts);
}

UNIT_RUN
