/* SPDX-License-Identifier: Apache-2.0 */
#include "slots.h"
#include "unit.h"

/* Returns the rate of `count` lines in the second slot of `length` seconds, from 1000 s on. */
static double rate(double length, double count, double first, double last) {
    struct slots slots = {.count = 2, .begin = 1000, .length = length, .settle = 0.2};
    return slots_rate(&slots, 1, count, 1000 + first, 1000 + last);
}

TEST(rate_comes_from_the_time_between_the_first_and_the_last_line) {
    assert_near(rate(5, 41, 6, 10), 10, 1e-9);
    assert_near(rate(5, 2, 7, 9), 0.5, 1e-9);
}

/* Gaps of 0.1 s. The counted part of the slot is from 6 to 10 s. */
TEST(only_clear_stalls_at_the_edges_of_a_slot_count) {
    assert_near(rate(5, 38, 6.29, 9.99), 10, 1e-9);
    assert_near(rate(5, 37, 6.35, 9.95), 36 / (3.6 + 0.25), 1e-9);
    assert_near(rate(5, 37, 6.05, 9.65), 36 / (3.6 + 0.25), 1e-9);
    assert_near(rate(5, 21, 7, 9), 20 / (2 + 0.9 + 0.9), 1e-9);
}

/* In a short slot, one line may be there by chance. */
TEST(a_single_line_gives_a_rate_only_in_a_long_slot) {
    assert_near(rate(5, 1, 8, 8), 1 / 4.0, 1e-9);
    assert_near(rate(1, 1, 1.5, 1.5), 1 / 0.8, 1e-9);
    assert_true(isnan(rate(0.9, 1, 1.5, 1.5)));
    assert_true(isnan(rate(5, 0, 0, 0)));
}

UNIT_RUN
