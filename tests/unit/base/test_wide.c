/* SPDX-License-Identifier: Apache-2.0 */
#include "base/wide.h"
#include "unit.h"

#define ONES UINT64_MAX

static void assert_wide(struct ss_wide value, uint64_t high, uint64_t low) {
    assert_int_equal(value.high, high);
    assert_int_equal(value.low, low);
}

TEST(carries_reach_the_upper_half) {
    struct ss_wide sum = ss_wide_add((struct ss_wide){3, ONES}, (struct ss_wide){4, 1});
    assert_wide(sum, 8, 0);
    assert_wide(ss_wide_subtract(sum, (struct ss_wide){4, 1}), 3, ONES);
    assert_wide(ss_wide_subtract(ss_wide(0), ss_wide(1)), ONES, ONES);
}

TEST(upper_halves_are_compared_first) {
    assert_int_equal(ss_wide_compare((struct ss_wide){1, 0}, (struct ss_wide){0, ONES}), 1);
    assert_int_equal(ss_wide_compare((struct ss_wide){1, 0}, (struct ss_wide){1, 1}), -1);
    assert_int_equal(ss_wide_compare((struct ss_wide){1, 1}, (struct ss_wide){1, 1}), 0);
}

static void assert_divided(struct ss_wide over, struct ss_wide under, struct ss_wide quotient,
    struct ss_wide expected_rest) {
    struct ss_wide rest;
    struct ss_wide result = ss_wide_divide(over, under, &rest);
    assert_wide(result, quotient.high, quotient.low);
    assert_wide(rest, expected_rest.high, expected_rest.low);
    assert_wide(ss_wide_divide(over, under, NULL), quotient.high, quotient.low);
}

TEST(quotients_are_rounded_down) {
    assert_divided(ss_wide(7), ss_wide(2), ss_wide(3), ss_wide(1));
    assert_divided(ss_wide(7), (struct ss_wide){1, 0}, ss_wide(0), ss_wide(7));
    assert_divided(
        (struct ss_wide){ONES, ONES}, ss_wide(1), (struct ss_wide){ONES, ONES}, ss_wide(0));
    assert_divided((struct ss_wide){ONES, ONES}, ss_wide(10),
        (struct ss_wide){ONES / 10, UINT64_C(0x9999999999999999)}, ss_wide(5));
    /* Twice the rest needs 129 bits. */
    assert_divided((struct ss_wide){ONES, 0}, (struct ss_wide){ONES - 1, 7}, ss_wide(1),
        (struct ss_wide){0, ONES - 6});
    assert_divided((struct ss_wide){ONES - 1, 7}, (struct ss_wide){ONES, 0}, ss_wide(0),
        (struct ss_wide){ONES - 1, 7});
}

TEST(doubles_are_rounded_to_nearest) {
    assert_true(ss_wide_double(ss_wide(0)) == 0);
    assert_true(ss_wide_double(ss_wide((UINT64_C(1) << 53) + 1)) == 0x1p53);
    assert_true(ss_wide_double((struct ss_wide){1, 0}) == 0x1p64);
    assert_true(ss_wide_double((struct ss_wide){ONES, ONES}) == 0x1p128);
    /* Half a unit in the last place above 2^64, exactly and with one bit more. */
    assert_true(ss_wide_double((struct ss_wide){1, 0x800}) == 0x1p64);
    assert_true(ss_wide_double((struct ss_wide){1, 0x801}) == 0x1.0000000000001p64);
    assert_true(ss_wide_double((struct ss_wide){1, 0x1800}) == 0x1.0000000000002p64);
    /* The bit beyond the tie is in the lower half after the shift. */
    assert_true(
        ss_wide_double((struct ss_wide){UINT64_C(1) << 63 | 0x400, 1}) == 0x1.0000000000001p127);
}

static struct ss_wide any_wide(uint64_t *seed) {
    uint64_t words[2];
    for (int i = 0; i < 2; i++)
        words[i] = *seed = *seed * 6364136223846793005 + 1442695040888963407;
    unsigned bits = words[1] >> 57;
    if (bits >= 64)
        return ss_wide(words[0] >> (bits - 64));
    return (struct ss_wide){.high = words[0] >> bits, .low = words[1]};
}

static struct ss_wide times_by_additions(struct ss_wide left, uint64_t right) {
    struct ss_wide sum = {0};
    for (int bit = 63; bit >= 0; bit--) {
        sum = ss_wide_add(sum, sum);
        if (right >> bit & 1)
            sum = ss_wide_add(sum, left);
    }
    return sum;
}

TEST(quotient_times_divisor_plus_rest_is_the_dividend) {
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        struct ss_wide over = any_wide(&seed), under = any_wide(&seed), rest;
        under.low |= 1;
        struct ss_wide quotient = ss_wide_divide(over, under, &rest);
        assert_true(under.high == 0 || quotient.high == 0);
        struct ss_wide product =
            under.high ? ss_wide_times(under, quotient.low) : ss_wide_times(quotient, under.low);
        struct ss_wide sum = ss_wide_add(product, rest);
        assert_wide(sum, over.high, over.low);
        assert_int_equal(ss_wide_compare(rest, under), -1);
        struct ss_wide expected = times_by_additions(over, under.low);
        assert_wide(ss_wide_times(over, under.low), expected.high, expected.low);
    }
}

UNIT_RUN
