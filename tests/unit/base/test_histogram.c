/* SPDX-License-Identifier: Apache-2.0 */

#include <showstopper/random.h>

#include "base/histogram.h"
#include "heap.h"

static struct ss_histogram histogram;

static int set_up(void **state) {
    (void)state;
    return ss_histogram_open(&histogram, SS_HISTOGRAM_FINE);
}

static int tear_down(void **state) {
    (void)state;
    ss_histogram_close(&histogram);
    return 0;
}

/* Checks both ends of each bucket, for every width. */
TEST(histogram_buckets_have_no_gaps) {
    for (unsigned bits = 1; bits <= 11; bits++) {
        ss_time next = 0;
        for (unsigned bucket = 0; bucket < SS_HISTOGRAM_BUCKETS(bits); bucket++) {
            ss_time min = ss_histogram_bucket_min(bucket, bits);
            ss_time max = ss_histogram_bucket_max(bucket, bits);
            assert_int_equal(min, next);
            assert_int_equal(ss_histogram_bucket(min, bits), bucket);
            assert_int_equal(ss_histogram_bucket(max, bits), bucket);
            assert_true(max == min || (double)(max - min) * (1 << bits) <= (double)min);
            next = max + 1;
        }
        /* max + 1 wraps to 0: the last bucket ends with the largest value. */
        assert_int_equal(next, 0);
    }
}

TEST(histogram_bucket_is_printed_exactly) {
    char text[SS_HISTOGRAM_BUCKET_SIZE];
    static const struct {
        ss_time value;
        const char *text;
    } rows[] = {{0, "0.000000000"}, {1, "0.000000001"}, {2 * SS_MILLISECOND, "0.001999872"},
        {SS_SECOND, "0.999817216"}, {SS_TIME_NEVER, "18437736874.454810624"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned bucket = ss_histogram_bucket(rows[i].value, SS_HISTOGRAM_FINE);
        char *end = ss_histogram_put_bucket(text, bucket, SS_HISTOGRAM_FINE);
        assert_string_equal(text, rows[i].text);
        assert_ptr_equal(end, text + strlen(text));
    }
}

TEST_WITH(empty_histogram_has_unknown_figures, set_up, tear_down) {
    unsigned bucket = 0;
    assert_true(isnan(ss_histogram_mean(&histogram)));
    assert_true(isnan(ss_histogram_quantile(&histogram, 0.5)));
    assert_true(isnan(ss_histogram_quantile_max(&histogram, 1)));
    assert_false(ss_histogram_next(&histogram, &bucket));
    assert_that(histogram.min, ==, SS_TIME_NEVER);
    assert_int_equal(histogram.max, 0);
}

TEST_WITH(histogram_of_one_value_is_exact, set_up, tear_down) {
    static const ss_time values[] = {
        0, 1, 1023, 1024, 1025, 123456789, 3600 * SS_SECOND, SS_TIME_NEVER};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ss_histogram_clear(&histogram);
        ss_histogram_add(&histogram, values[i]);
        assert_that(ss_histogram_quantile(&histogram, 0.5), ==, (double)values[i] / 1e9);
        assert_that(ss_histogram_quantile_max(&histogram, 0.5), ==, (double)values[i] / 1e9);
        assert_that(ss_histogram_mean(&histogram), ==, (double)values[i] / 1e9);
    }
}

/*
 * The value is between a smaller and a larger one, because the extremes of a histogram are exact.
 */
TEST_WITH(quantiles_are_exact_to_a_two_thousandth, set_up, tear_down) {
    for (ss_time value = 1; value < 100 * 86400 * SS_SECOND; value += value / 97 + 1) {
        ss_histogram_clear(&histogram);
        ss_histogram_add(&histogram, 0);
        ss_histogram_add(&histogram, value);
        ss_histogram_add(&histogram, 200 * 86400 * SS_SECOND);
        double truth = (double)value / 1e9;
        assert_near(ss_histogram_quantile(&histogram, 0.5), truth, 5e-4 * truth);
        double max = ss_histogram_quantile_max(&histogram, 0.5);
        assert_that(max, >=, truth);
        assert_that(max, <=, truth * 1.001);
    }
}

static int compare(const void *a, const void *b) {
    ss_time left = *(const ss_time *)a, right = *(const ss_time *)b;
    return (left > right) - (left < right);
}

TEST_WITH(quantiles_of_a_million_values_are_exact_to_a_thousandth, set_up, tear_down) {
    enum { COUNT = 1000000 };
    ss_time *values = malloc(COUNT * sizeof *values);
    assert_non_null(values);
    uint64_t random = 7;
    long double sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        /* From 27 us to 4.4 s. */
        values[i] = (ss_time)(1e6 * exp(12 * (ss_random_next(&random) - 0.3)));
        ss_histogram_add(&histogram, values[i]);
        sum += (long double)values[i];
    }
    qsort(values, COUNT, sizeof *values, compare);
    static const double shares[] = {0.001, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        size_t rank = (size_t)llround(shares[i] * COUNT);
        double truth = (double)values[rank - 1] / 1e9;
        assert_near(ss_histogram_quantile(&histogram, shares[i]), truth, 1e-3 * truth);
    }
    assert_that(ss_histogram_quantile(&histogram, 0), ==, (double)values[0] / 1e9);
    assert_that(ss_histogram_quantile(&histogram, 1), ==, (double)values[COUNT - 1] / 1e9);
    double mean = (double)(sum / COUNT / 1e9L);
    assert_near(ss_histogram_mean(&histogram), mean, 1e-9 * mean);
    assert_int_equal(histogram.count, COUNT);
    free(values);
}

TEST_WITH(quantile_is_the_value_of_its_rank, set_up, tear_down) {
    for (ss_time i = 1; i <= 100; i++)
        ss_histogram_add(&histogram, i);
    for (unsigned i = 1; i <= 100; i++)
        assert_that(ss_histogram_quantile(&histogram, i / 100.0), ==, i / 1e9);
    assert_that(ss_histogram_quantile(&histogram, 0.071), ==, 8 / 1e9);
}

/* The manual pages state these sizes. */
TEST(histogram_memory_is_bounded) {
    assert_int_equal(
        SS_HISTOGRAM_BUCKETS(SS_HISTOGRAM_FINE) * sizeof *histogram.counts, 440 * 1024);
    assert_that(sizeof(struct ss_shared_histogram), <=, 1024);
}

TEST_WITH(adding_to_a_histogram_allocates_no_memory, set_up, tear_down) {
    size_t before = heap_in_use();
    uint64_t random = 7;
    for (int i = 0; i < 100000; i++)
        ss_histogram_add(&histogram, (ss_time)(1e3 * exp(30 * ss_random_next(&random))));
    assert_int_equal(heap_in_use(), before);
}

static void assert_same(const struct ss_histogram *one, const struct ss_histogram *other) {
    assert_int_equal(one->count, other->count);
    assert_int_equal(one->min, other->min);
    assert_int_equal(one->max, other->max);
    assert_that(one->sum, ==, other->sum);
    assert_memory_equal(
        one->counts, other->counts, SS_HISTOGRAM_BUCKETS(SS_HISTOGRAM_FINE) * sizeof *one->counts);
}

/* Merged parts must equal the histogram of all values, bit by bit, in any order. */
TEST_WITH(merging_histograms_is_exact, set_up, tear_down) {
    struct ss_histogram parts[7], forward, backward;
    uint64_t random = 3;
    for (int i = 0; i < 7; i++)
        assert_int_equal(ss_histogram_open(&parts[i], SS_HISTOGRAM_FINE), 0);
    assert_int_equal(ss_histogram_open(&forward, SS_HISTOGRAM_FINE), 0);
    assert_int_equal(ss_histogram_open(&backward, SS_HISTOGRAM_FINE), 0);
    for (int i = 0; i < 100000; i++) {
        ss_time value = (ss_time)(1e3 * exp(15 * ss_random_next(&random)));
        ss_histogram_add(&histogram, value);
        ss_histogram_add(&parts[i % 6], value); /* the last one stays empty */
    }
    for (int i = 0; i < 7; i++) {
        ss_histogram_merge(&forward, &parts[i]);
        ss_histogram_merge(&backward, &parts[6 - i]);
    }
    assert_same(&forward, &histogram);
    assert_same(&backward, &histogram);
    for (int i = 0; i < 7; i++)
        ss_histogram_close(&parts[i]);
    ss_histogram_close(&forward);
    ss_histogram_close(&backward);
}

TEST_WITH(cleared_histogram_is_empty, set_up, tear_down) {
    struct ss_histogram fresh;
    assert_int_equal(ss_histogram_open(&fresh, SS_HISTOGRAM_FINE), 0);
    ss_histogram_add(&histogram, 0);
    ss_histogram_add(&histogram, 5);
    ss_histogram_add(&histogram, SS_TIME_NEVER);
    ss_histogram_clear(&histogram);
    assert_same(&histogram, &fresh);
    ss_histogram_close(&fresh);
}

static void read_shared(const struct ss_shared_histogram *shared, size_t count) {
    ss_histogram_close(&histogram);
    assert_int_equal(ss_histogram_open(&histogram, SS_HISTOGRAM_COARSE), 0);
    for (size_t i = 0; i < count; i++)
        ss_shared_histogram_read(&shared[i], &histogram);
}

TEST_WITH(shared_quantiles_exceed_values_by_at_most_a_quarter, set_up, tear_down) {
    for (ss_time value = 1; value < 3000 * SS_SECOND; value += value / 7 + 1) {
        struct ss_shared_histogram shared = {0};
        ss_shared_histogram_add(&shared, value);
        ss_shared_histogram_add(&shared, 3600 * SS_SECOND);
        read_shared(&shared, 1);
        double found = ss_histogram_quantile_max(&histogram, 0.5), truth = (double)value / 1e9;
        assert_that(found, >=, truth);
        assert_that(found, <=, 1.25 * truth);
        assert_that(ss_histogram_quantile_max(&histogram, 1), ==, 3600);
    }
}

TEST_WITH(shared_histograms_accept_any_value, set_up, tear_down) {
    struct ss_shared_histogram shared = {0};
    ss_shared_histogram_add(&shared, 0);
    for (unsigned shift = 0; shift < 64; shift++)
        ss_shared_histogram_add(&shared, UINT64_C(1) << shift);
    ss_shared_histogram_add(&shared, UINT64_MAX);
    read_shared(&shared, 1);
    assert_int_equal(histogram.count, 66);
    assert_that(histogram.max, ==, UINT64_MAX);
}

/* Two writers; the maximum is exact whichever of them has it. */
TEST_WITH(shared_histograms_are_merged, set_up, tear_down) {
    struct ss_shared_histogram shared[2] = {{0}};
    for (int i = 0; i < 99; i++)
        ss_shared_histogram_add(&shared[0], 5 * SS_MICROSECOND);
    ss_shared_histogram_add(&shared[1], 65 * SS_MILLISECOND);
    read_shared(shared, 2);
    assert_int_equal(histogram.count, 100);
    assert_int_equal(histogram.max, 65 * SS_MILLISECOND);
    assert_near(ss_histogram_quantile_max(&histogram, 0.99), 5e-6, 0.25 * 5e-6);
    assert_that(ss_histogram_quantile_max(&histogram, 1), ==, 65e-3);
    ss_shared_histogram_add(&shared[0], 66 * SS_MILLISECOND);
    read_shared(shared, 2);
    assert_int_equal(histogram.max, 66 * SS_MILLISECOND);
}

UNIT_RUN
