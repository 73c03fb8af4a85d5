/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include <showstopper/random.h>

#include "distribution.h"
#include "unit.h"

static struct ssrequest_distribution distribution;

static int make(void **state) {
    (void)state;
    struct ss_error error = {0};
    return ssrequest_distribution_open(&distribution, &error);
}

static int forget(void **state) {
    (void)state;
    ssrequest_distribution_close(&distribution);
    return 0;
}

static void assert_near(double found, double truth, double part) {
    if (!(fabs(found - truth) <= part * truth))
        fail_msg("%.9g, the truth %.9g", found, truth);
}

static void empty_distribution_has_no_values(void **state) {
    (void)state;
    assert_true(isnan(ssrequest_distribution_mean(&distribution)));
    assert_true(isnan(ssrequest_distribution_quantile(&distribution, 0.5)));
    assert_true(distribution.least == SS_TIME_NEVER);
    assert_int_equal(distribution.most, 0);
}

static void one_value_is_exact(void **state) {
    (void)state;
    static const ss_time values[] = {
        0, 1, 1023, 1024, 1025, 123456789, 3600 * SS_SECOND, SS_TIME_NEVER - 1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ssrequest_distribution_clear(&distribution);
        ssrequest_distribution_add(&distribution, values[i]);
        assert_true(ssrequest_distribution_quantile(&distribution, 0.5) == (double)values[i] / 1e9);
        assert_true(ssrequest_distribution_mean(&distribution) == (double)values[i] / 1e9);
    }
}

/* Each value between a lesser and a larger one, which do not help to know it. */
static void value_is_exact_to_a_two_thousandth(void **state) {
    (void)state;
    for (ss_time value = 1; value < 100 * 86400 * SS_SECOND; value += value / 97 + 1) {
        ssrequest_distribution_clear(&distribution);
        ssrequest_distribution_add(&distribution, 0);
        ssrequest_distribution_add(&distribution, value);
        ssrequest_distribution_add(&distribution, 200 * 86400 * SS_SECOND);
        assert_near(ssrequest_distribution_quantile(&distribution, 0.5), (double)value / 1e9, 5e-4);
    }
}

static void bin_is_exact_to_four_thousandths(void **state) {
    (void)state;
    unsigned bin = 0;
    for (ss_time value = 128; value < 100 * 86400 * SS_SECOND; value += value / 97 + 1) {
        ssrequest_distribution_clear(&distribution);
        ssrequest_distribution_add(&distribution, value);
        ssrequest_distribution_add(&distribution, value);
        while (ssrequest_distribution_bin(&distribution, bin) == 0)
            assert_true(++bin < SSREQUEST_BINS);
        assert_int_equal(ssrequest_distribution_bin(&distribution, bin), 2);
        double middle = 1e9 * ssrequest_bin_middle(bin);
        assert_true(fabs(middle - (double)value) <= fmax(4, 0.004 * (double)value));
    }
}

static int compare(const void *a, const void *b) {
    ss_time left = *(const ss_time *)a, right = *(const ss_time *)b;
    return (left > right) - (left < right);
}

static void percentiles_of_ten_million_are_within_a_thousandth(void **state) {
    (void)state;
    enum { COUNT = 10000000 };
    ss_time *values = malloc(COUNT * sizeof *values);
    assert_non_null(values);
    uint64_t random = 7;
    long double sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        /* From microseconds to minutes. */
        values[i] = (ss_time)(1e6 * exp(12 * (ss_random_next(&random) - 0.3)));
        ssrequest_distribution_add(&distribution, values[i]);
        sum += (long double)values[i];
    }
    qsort(values, COUNT, sizeof *values, compare);
    static const double shares[] = {0.001, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        size_t rank = (size_t)llround(shares[i] * COUNT);
        assert_near(ssrequest_distribution_quantile(&distribution, shares[i]),
            (double)values[rank - 1] / 1e9, 1e-3);
    }
    assert_true(ssrequest_distribution_quantile(&distribution, 0) == (double)values[0] / 1e9);
    assert_true(
        ssrequest_distribution_quantile(&distribution, 1) == (double)values[COUNT - 1] / 1e9);
    assert_near(ssrequest_distribution_mean(&distribution), (double)(sum / COUNT / 1e9L), 1e-9);
    assert_int_equal(distribution.count, COUNT);
    free(values);
}

static void a_quantile_counts_values(void **state) {
    (void)state;
    for (ss_time i = 1; i <= 100; i++)
        ssrequest_distribution_add(&distribution, i);
    for (unsigned i = 1; i <= 100; i++)
        assert_true(ssrequest_distribution_quantile(&distribution, i / 100.0) == i / 1e9);
    assert_true(ssrequest_distribution_quantile(&distribution, 0.071) == 8 / 1e9);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test_setup_teardown(empty_distribution_has_no_values, make, forget),
    cmocka_unit_test_setup_teardown(one_value_is_exact, make, forget),
    cmocka_unit_test_setup_teardown(value_is_exact_to_a_two_thousandth, make, forget),
    cmocka_unit_test_setup_teardown(bin_is_exact_to_four_thousandths, make, forget),
    cmocka_unit_test_setup_teardown(percentiles_of_ten_million_are_within_a_thousandth, make, forget),
    cmocka_unit_test_setup_teardown(a_quantile_counts_values, make, forget))
