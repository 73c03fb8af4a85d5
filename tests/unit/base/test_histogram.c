/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/histogram.h"
#include "unit.h"

static struct ss_histogram histogram;

static void clear(void) {
    memset(&histogram, 0, sizeof histogram);
}

static uint64_t counted(const struct ss_histogram *in) {
    uint64_t count = 0;
    for (int i = 0; i < SS_HISTOGRAM_BUCKETS; i++)
        count += in->buckets[i];
    return count;
}

/* The quantile is never below the true value, which is more than four fifths of it. */
static void assert_quantile(double share, ss_time truth) {
    ss_time found = ss_histogram_quantile(&histogram, share);
    if (found < truth || (found > SS_MICROSECOND && (double)truth < 0.8 * (double)found))
        fail_msg("quantile %g is %llu, the truth %llu", share, (unsigned long long)found,
            (unsigned long long)truth);
}

static void an_empty_histogram_is_0(void **state) {
    (void)state;
    clear();
    assert_int_equal(ss_histogram_quantile(&histogram, 0), 0);
    assert_int_equal(ss_histogram_quantile(&histogram, 0.5), 0);
    assert_int_equal(ss_histogram_quantile(&histogram, 1), 0);
    assert_int_equal(histogram.largest, 0);
}

static void one_value_is_exact(void **state) {
    (void)state;
    static const ss_time values[] = {
        0, 1, 999, 1000, 1001, 1250, 1251, 123456789, 3600 * SS_SECOND};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        clear();
        ss_histogram_add(&histogram, values[i]);
        assert_int_equal(histogram.largest, values[i]);
        assert_int_equal(ss_histogram_quantile(&histogram, 0.5), values[i]);
        assert_int_equal(ss_histogram_quantile(&histogram, 1), values[i]);
    }
}

/* Each value is next to a far larger one, which must not influence it. */
static void quantiles_are_exact_to_a_fifth(void **state) {
    (void)state;
    for (ss_time value = 1; value < 3000 * SS_SECOND; value += value / 7 + 1) {
        clear();
        ss_histogram_add(&histogram, value);
        ss_histogram_add(&histogram, 3600 * SS_SECOND);
        assert_quantile(0.5, value);
        assert_int_equal(ss_histogram_quantile(&histogram, 1), 3600 * SS_SECOND);
    }
}

static void buckets_end_at_four_steps_to_a_doubling(void **state) {
    (void)state;
    static const ss_time ends[] = {1000, 1250, 1500, 1750, 2000, 2500, 3000, 3500, 4000, 5000};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        clear();
        ss_histogram_add(&histogram, ends[i]);
        ss_histogram_add(&histogram, SS_SECOND);
        assert_int_equal(histogram.buckets[3 + i], 1);
        assert_int_equal(ss_histogram_quantile(&histogram, 0.5), ends[i]);
        ss_histogram_add(&histogram, ends[i] + 1);
        assert_int_equal(histogram.buckets[4 + i], 1);
    }
}

static void quantiles_count_values(void **state) {
    (void)state;
    clear();
    for (ss_time i = 1; i <= 1000; i++)
        ss_histogram_add(&histogram, i * SS_MILLISECOND);
    assert_int_equal(counted(&histogram), 1000);
    assert_quantile(0.001, 1 * SS_MILLISECOND);
    assert_quantile(0.5, 500 * SS_MILLISECOND);
    assert_quantile(0.9, 900 * SS_MILLISECOND);
    assert_quantile(0.99, 990 * SS_MILLISECOND);
    assert_int_equal(ss_histogram_quantile(&histogram, 1), SS_SECOND);
    /* 99 of 100 are short, and so is the 99th percentile. Above it, values are long. */
    clear();
    for (int i = 0; i < 99; i++)
        ss_histogram_add(&histogram, 1000);
    ss_histogram_add(&histogram, SS_SECOND);
    assert_int_equal(ss_histogram_quantile(&histogram, 0.99), 1000);
    assert_int_equal(ss_histogram_quantile(&histogram, 0.991), SS_SECOND);
}

static void largest_values_are_counted(void **state) {
    (void)state;
    clear();
    ss_histogram_add(&histogram, SS_TIME_NEVER);
    ss_histogram_add(&histogram, 1);
    assert_int_equal(counted(&histogram), 2);
    assert_int_equal(histogram.buckets[SS_HISTOGRAM_BUCKETS - 1], 1);
    assert_true(histogram.largest == SS_TIME_NEVER);
}

static void merging_adds_counts(void **state) {
    (void)state;
    struct ss_histogram into = {0};
    clear();
    ss_histogram_add(&into, 1000);
    ss_histogram_add(&into, 5000);
    ss_histogram_add(&histogram, 1000);
    ss_histogram_add(&histogram, 2000);
    ss_histogram_merge(&into, &histogram);
    assert_int_equal(counted(&into), 4);
    assert_int_equal(into.buckets[3], 2);
    assert_int_equal(into.largest, 5000);
    assert_int_equal(counted(&histogram), 2);
    ss_histogram_add(&histogram, 9000);
    ss_histogram_merge(&into, &histogram);
    assert_int_equal(counted(&into), 7);
    assert_int_equal(into.largest, 9000);
}

/* Checks both ends of each bucket, for all widths. */
static void buckets_follow_one_another(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 11; bits++) {
        ss_time next = 0;
        for (unsigned bucket = 0; bucket < SS_HISTOGRAM_BUCKETS_OF(bits); bucket++) {
            ss_time least = ss_histogram_bucket_least(bucket, bits);
            assert_int_equal(least, next);
            next = ss_histogram_bucket_least(bucket + 1, bits);
            assert_int_equal(ss_histogram_bucket(least, bits), bucket);
            assert_int_equal(ss_histogram_bucket(next - 1, bits), bucket);
            /* The last bucket ends with the largest value: next is 0 then. */
            assert_true(next - least == 1 || (double)(next - least) * (1 << bits) <= (double)least);
        }
        assert_int_equal(next, 0);
    }
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(an_empty_histogram_is_0),
    cmocka_unit_test(one_value_is_exact),
    cmocka_unit_test(quantiles_are_exact_to_a_fifth),
    cmocka_unit_test(buckets_end_at_four_steps_to_a_doubling),
    cmocka_unit_test(quantiles_count_values),
    cmocka_unit_test(largest_values_are_counted),
    cmocka_unit_test(merging_adds_counts),
    cmocka_unit_test(buckets_follow_one_another))
