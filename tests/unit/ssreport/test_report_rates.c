/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "measure/throughput.h"
#include "steps.h"
#include "unit.h"
#include <showstopper/random.h>

static struct ssreport_rates open_rates(double from, double to, double interval) {
    struct ssreport_rates rates;
    assert_int_equal(ssreport_rates_open(&rates, from, to, interval), 0);
    return rates;
}

static void assert_part(const struct ssreport_rates *rates, size_t interval, double want) {
    if (fabs(rates->parts[interval] - want) > 1e-9)
        fail_msg("interval %zu: %g iterations, not %g", interval, rates->parts[interval], want);
}

static void iteration_counts_in_proportion_to_its_overlap(void **state) {
    (void)state;
    struct ssreport_rates rates = open_rates(10, 40, 10);
    assert_int_equal(rates.count, 3);
    ssreport_rates_add(&rates, 5, 25); /* a quarter is before the range */
    ssreport_rates_add(&rates, 12, 13);
    ssreport_rates_add(&rates, 35, 45); /* half is after the range */
    ssreport_rates_add(&rates, 0, 10);
    ssreport_rates_add(&rates, 40, 41);
    assert_part(&rates, 0, 1.5);
    assert_part(&rates, 1, 0.25);
    assert_part(&rates, 2, 0.5);
    ssreport_rates_divide(&rates);
    assert_part(&rates, 0, 0.15);
    ssreport_rates_close(&rates);
}

static void lengths_are_means_of_the_iterations_in_an_interval(void **state) {
    (void)state;
    struct ssreport_rates rates = open_rates(10, 50, 10);
    ssreport_rates_add(&rates, 5, 25);
    ssreport_rates_add(&rates, 12, 13);
    ssreport_rates_add(&rates, 17, 17);
    ssreport_rates_add(&rates, 25, 30);
    ssreport_rates_add(&rates, 45, 55);
    ssreport_rates_divide(&rates);
    assert_near(rates.lengths[0], (20 + 1 + 0) / 3.0, 1e-9);
    assert_near(rates.lengths[1], (20 + 5) / 2.0, 1e-9);
    assert_true(isnan(rates.lengths[2]));
    assert_near(rates.lengths[3], 10, 1e-9);
    ssreport_rates_close(&rates);
}

static void zero_length_iteration_counts_in_the_interval_of_its_end(void **state) {
    (void)state;
    struct ssreport_rates rates = open_rates(0, 12, 6);
    ssreport_rates_add(&rates, 6, 6);
    ssreport_rates_add(&rates, 12, 12);
    ssreport_rates_add(&rates, -1, -1);
    assert_part(&rates, 0, 0);
    assert_part(&rates, 1, 1);
    ssreport_rates_close(&rates);
}

static void only_complete_rate_intervals_count(void **state) {
    (void)state;
    const struct {
        double to;
        size_t count;
    } cases[] = {{-1, 0}, {0, 0}, {5.9, 0}, {6, 1}, {11.99, 1}, {12, 2}, {NAN, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ssreport_rates rates = open_rates(0, cases[i].to, 6);
        assert_int_equal(rates.count, cases[i].count);
        ssreport_rates_add(&rates, 1, 2); /* without any interval */
        ssreport_rates_close(&rates);
    }
    struct ssreport_rates rates;
    assert_int_equal(ssreport_rates_open(&rates, 0, 1e30, 6), -1);
    /* Rounding errors must not drop an interval. */
    rates = open_rates(0.1, 0.1 + 3 * 0.7, 0.7);
    assert_int_equal(rates.count, 3);
    ssreport_rates_close(&rates);
    /* Records have six decimals, so 18 s may be a microsecond short. */
    rates = open_rates(1.000001, 19, 6);
    assert_int_equal(rates.count, 3);
    ssreport_rates_close(&rates);
}

/* The report must compute the same figures as the summary, for any iterations. */
static void report_rates_equal_summary_rates(void **state) {
    (void)state;
    struct ss_throughput throughput = {.from = 100 * SS_SECOND};
    struct ssreport_rates rates = open_rates(100, 700, 6);
    for (uint64_t i = 0; i < 2000; i++) {
        double start = 90 + 600 * ss_random(1, i), length = 20 * pow(ss_random(2, i), 3);
        ss_time from = (ss_time)(start * 1e9), to = (ss_time)((start + length) * 1e9);
        ss_throughput_add(&throughput, from, to);
        ssreport_rates_add(&rates, ss_time_seconds(from), ss_time_seconds(to));
    }
    ssreport_rates_divide(&rates);
    for (size_t i = 0; i < rates.count; i++)
        assert_part(&rates, i, ss_throughput_rate(&throughput, i));
    assert_int_equal(ss_throughput_count(&throughput, 700 * SS_SECOND), rates.count);
    ss_throughput_free(&throughput);
    ssreport_rates_close(&rates);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(iteration_counts_in_proportion_to_its_overlap),
    cmocka_unit_test(lengths_are_means_of_the_iterations_in_an_interval),
    cmocka_unit_test(zero_length_iteration_counts_in_the_interval_of_its_end),
    cmocka_unit_test(only_complete_rate_intervals_count),
    cmocka_unit_test(report_rates_equal_summary_rates))
