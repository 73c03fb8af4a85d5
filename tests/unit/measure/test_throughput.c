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

TEST(iterations_are_split_over_intervals_of_six_seconds) {
    static const struct {
        double from;
        struct {
            double start, end;
        } added[3];
        double expected[5];
    } rows[] = {
        {100, {{101, 102}, {102, 105.9}, {106, 112}}, {2, 1, 0}},
        {0, {{3, 27}}, {0.125, 0.25, 0.25, 0.25, 0.125}},
        /* Before counting begins. */
        {10, {{4, 12}}, {0.25}},
        {10, {{1, 9}, {4, 10}}, {0}},
        /* Iterations of length 0, and one whose clocks disagree. */
        {0, {{7, 7}, {12, 12}, {9, 8}}, {0, 2, 1}},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        print_message("row %zu\n", row);
        open_at(rows[row].from);
        for (size_t i = 0; i < 3 && rows[row].added[i].end > 0; i++)
            add(rows[row].added[i].start, rows[row].added[i].end);
        for (size_t i = 0; i < 5; i++)
            assert_iterations(i, rows[row].expected[i]);
    }
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
