/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "measure/lengths.h"
#include "unit.h"

static void assert_near(double value, double expected, double most) {
    if (!(fabs(value - expected) <= most))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void figures_without_lengths_are_unknown(void **state) {
    (void)state;
    struct ss_lengths lengths = {0};
    assert_true(isnan(ss_lengths_mean(&lengths)));
    assert_true(isnan(ss_lengths_deviation(&lengths)));
    assert_true(isnan(ss_lengths_quantile(&lengths, 0.5)));
    ss_lengths_add(&lengths, 3 * SS_SECOND);
    assert_near(ss_lengths_mean(&lengths), 3, 0);
    assert_true(isnan(ss_lengths_deviation(&lengths)));
    assert_near(ss_lengths_quantile(&lengths, 0.99), 3, 0);
    ss_lengths_free(&lengths);
}

/* As in R: mean, sd, quantile(type = 7). */
static void figures_of_few_lengths_are_exact(void **state) {
    (void)state;
    static const unsigned seconds[] = {9, 2, 7, 4, 1};
    struct ss_lengths lengths = {0};
    for (size_t i = 0; i < 5; i++)
        ss_lengths_add(&lengths, seconds[i] * SS_SECOND);
    assert_near(ss_lengths_mean(&lengths), 4.6, 1e-12);
    assert_near(ss_lengths_deviation(&lengths), 3.3615472627943221, 1e-12);
    assert_near(ss_lengths_quantile(&lengths, 0.5), 4, 0);
    assert_near(ss_lengths_quantile(&lengths, 0.95), 8.6, 1e-12);
    assert_near(ss_lengths_quantile(&lengths, 0.25), 2, 0);
    assert_near(ss_lengths_quantile(&lengths, 0), 1, 0);
    assert_near(ss_lengths_quantile(&lengths, 1), 9, 0);
    ss_lengths_free(&lengths);
}

/* Adds a million lengths, each once; with `stride` 1, lengths only grow. */
static void add_many(uint64_t stride) {
    struct ss_lengths lengths = {0};
    uint64_t count = 1000003; /* a prime */
    for (uint64_t i = 0; i < count; i++)
        ss_lengths_add(&lengths, i * stride % count * SS_MICROSECOND);
    assert_int_equal(lengths.count, count);
    assert_near(ss_lengths_mean(&lengths), 0.500001, 1e-9);
    assert_near(ss_lengths_deviation(&lengths), 0.288676, 1e-6);
    assert_near(ss_lengths_quantile(&lengths, 0.5), 0.5, 0.0005);
    assert_near(ss_lengths_quantile(&lengths, 0.99), 0.99, 0.001);
    ss_lengths_free(&lengths);
}

static void quantiles_of_many_lengths_are_within_a_thousandth(void **state) {
    (void)state;
    add_many(1);
    add_many(618033);
}

/* Every second length is short, and there are far more than a list would keep. */
static void quantiles_of_a_periodic_program_have_both_lengths(void **state) {
    (void)state;
    struct ss_lengths lengths = {0};
    for (unsigned i = 0; i < 300000; i++)
        ss_lengths_add(&lengths, (i % 2 == 0 ? 1 : 9) * SS_MILLISECOND);
    assert_near(ss_lengths_mean(&lengths), 5e-3, 1e-12);
    assert_near(ss_lengths_quantile(&lengths, 0.25), 1e-3, 1e-12);
    assert_near(ss_lengths_quantile(&lengths, 0.5), 5e-3, 1e-12);
    assert_near(ss_lengths_quantile(&lengths, 0.95), 9e-3, 1e-12);
    ss_lengths_free(&lengths);
    /* Three of four are short. */
    for (unsigned i = 0; i < 300000; i++)
        ss_lengths_add(&lengths, (i % 4 == 3 ? 9 : 1) * SS_MILLISECOND);
    assert_near(ss_lengths_quantile(&lengths, 0.74), 1e-3, 1e-12);
    assert_near(ss_lengths_quantile(&lengths, 0.76), 9e-3, 1e-12);
    ss_lengths_free(&lengths);
}

static void every_length_has_a_bucket(void **state) {
    (void)state;
    struct ss_lengths lengths = {0};
    ss_lengths_add(&lengths, 0);
    ss_lengths_add(&lengths, 1000);
    ss_lengths_add(&lengths, SS_TIME_NEVER);
    assert_near(ss_lengths_quantile(&lengths, 0), 0, 0);
    assert_near(ss_lengths_quantile(&lengths, 0.5), 1e-6, 0);
    assert_near(ss_lengths_quantile(&lengths, 1), 1.8446744073709552e10, 1);
    ss_lengths_free(&lengths);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(figures_without_lengths_are_unknown),
    cmocka_unit_test(figures_of_few_lengths_are_exact),
    cmocka_unit_test(quantiles_of_many_lengths_are_within_a_thousandth),
    cmocka_unit_test(quantiles_of_a_periodic_program_have_both_lengths),
    cmocka_unit_test(every_length_has_a_bucket))
