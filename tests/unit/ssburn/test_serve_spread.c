/* SPDX-License-Identifier: Apache-2.0 */

#include "unit.h"

#include "serve_spread.c"

#define MEAN  UINT64_C(4000000)
#define COUNT 100000

TEST_CASE(constant_request_work_equals_its_mean) {
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(serve_spread_units(SERVE_CONSTANT, MEAN, 7, i), MEAN);
}

/*
 * Mean and deviation are equal, and a share of 1/e exceeds them; the bounds are five standard
 * errors.
 */
TEST_CASE(exponential_request_work_is_exponentially_distributed) {
    double sum = 0, squares = 0, beyond = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        double ratio = (double)serve_spread_units(SERVE_EXPONENTIAL, MEAN, 7, i) / MEAN;
        sum += ratio;
        squares += ratio * ratio;
        beyond += ratio > 1;
    }
    assert_float_equal(sum / COUNT, 1, 5 / sqrt(COUNT));
    assert_float_equal(squares / COUNT, 2, 5 * sqrt(20. / COUNT));
    assert_float_equal(beyond / COUNT, exp(-1), 5 * sqrt(exp(-1) * (1 - exp(-1)) / COUNT));
}

TEST_CASE(seed_determines_the_sequence_of_request_work) {
    int same = 0;
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t units = serve_spread_units(SERVE_EXPONENTIAL, MEAN, 1, i);
        assert_int_equal(serve_spread_units(SERVE_EXPONENTIAL, MEAN, 1, i), units);
        same += serve_spread_units(SERVE_EXPONENTIAL, MEAN, 2, i) == units;
    }
    assert_that(same, <, 3);
}

TEST_CASE(exponential_request_work_stays_in_range) {
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(serve_spread_units(SERVE_EXPONENTIAL, 0, 1, i), 0);
        assert_that(
            serve_spread_units(SERVE_EXPONENTIAL, WORK_UNITS_MAX, 1, i), <=, WORK_UNITS_MAX);
    }
}

UNIT_MAIN()
