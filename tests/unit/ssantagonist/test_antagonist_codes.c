/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "codes.h"

#define SLOTS (2 * CODES_LENGTH)

/* Codes of several studies, each with the largest number of suspects. */
#define STUDIES 20

static struct codes draw(uint64_t seed) {
    struct codes codes;
    codes_draw(&codes, CODES_SUSPECTS_MAX, true, seed);
    return codes;
}

static int sign(const struct codes *codes, size_t code, size_t slot) {
    return codes_low(codes, code, slot) ? 1 : -1;
}

static void every_code_throttles_in_half_of_the_slots(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < STUDIES; seed++) {
        struct codes codes = draw(seed);
        for (size_t code = 0; code < codes_count(&codes); code++) {
            int sum = 0;
            for (size_t slot = 0; slot < SLOTS; slot++)
                sum += sign(&codes, code, slot);
            assert_int_equal(sum, 0);
        }
    }
}

static void second_half_of_each_code_inverts_the_first(void **state) {
    (void)state;
    struct codes codes = draw(3);
    for (size_t code = 0; code < codes_count(&codes); code++) {
        for (size_t slot = 0; slot < CODES_LENGTH; slot++)
            assert_int_equal(sign(&codes, code, slot), -sign(&codes, code, slot + CODES_LENGTH));
    }
}

static void codes_hardly_correlate_within_two_slots(void **state) {
    (void)state;
    double largest = 0;
    for (uint64_t seed = 0; seed < STUDIES; seed++) {
        struct codes codes = draw(seed);
        for (size_t one = 0; one < codes_count(&codes); one++) {
            for (size_t other = 0; other < codes_count(&codes); other++) {
                for (size_t lag = one == other ? 1 : 0; lag <= 2; lag++) {
                    int sum = 0;
                    for (size_t slot = lag; slot < SLOTS; slot++)
                        sum += sign(&codes, one, slot) * sign(&codes, other, slot - lag);
                    largest = fmax(largest, fabs((double)sum / (double)(SLOTS - lag)));
                }
            }
        }
    }
    assert_that(largest, <=, 0.07);
    assert_that(largest, >, 0);
}

/* The sequence is the same in all codes: 1 run of 6, 1 of 4, 2 of 3, 4 of 2 and 8 of 1. */
static void all_codes_have_the_run_lengths_of_the_base_sequence(void **state) {
    (void)state;
    struct codes codes = draw(5);
    for (size_t code = 0; code < codes_count(&codes); code++) {
        size_t runs[8] = {0}, slot = 0, begin = 0;
        while (codes_low(&codes, code, begin) || !codes_low(&codes, code, begin + 1))
            begin++;
        for (slot = 1; slot <= CODES_LENGTH;) {
            size_t length = 0;
            bool low = codes_low(&codes, code, (begin + slot) % CODES_LENGTH);
            while (slot <= CODES_LENGTH &&
                   codes_low(&codes, code, (begin + slot) % CODES_LENGTH) == low)
                length++, slot++;
            assert_that(length, <, 8);
            runs[length] += low;
        }
        assert_int_equal(runs[6], 1);
        assert_int_equal(runs[5], 0);
        assert_int_equal(runs[4], 1);
        assert_int_equal(runs[3], 2);
        assert_int_equal(runs[2], 4);
        assert_int_equal(runs[1], 8);
    }
}

/*
 * Within the first halves of codes, the product of two shifts of the base sequence is a third
 * shift.
 */
static void no_code_is_the_product_of_two_other_codes(void **state) {
    (void)state;
    struct codes codes = draw(1);
    for (size_t one = 0; one < CODES_SUSPECTS_MAX; one++) {
        for (size_t other = 0; other < one; other++) {
            for (size_t third = 0; third < codes_count(&codes); third++) {
                int sum = 0;
                for (size_t slot = 0; slot < SLOTS; slot++)
                    sum += sign(&codes, one, slot) * sign(&codes, other, slot) *
                           sign(&codes, third, slot);
                assert_int_equal(sum, 0);
            }
        }
    }
}

static void seed_chooses_start_and_assignment(void **state) {
    (void)state;
    struct codes one = draw(1), same = draw(1), other = draw(2);
    assert_memory_equal(one.shifts, same.shifts, sizeof one.shifts);
    assert_true(memcmp(one.shifts, other.shifts, sizeof one.shifts) != 0);
    assert_that(one.start, !=, other.start);
}

UNIT_MAIN(cmocka_unit_test(every_code_throttles_in_half_of_the_slots),
    cmocka_unit_test(second_half_of_each_code_inverts_the_first),
    cmocka_unit_test(codes_hardly_correlate_within_two_slots),
    cmocka_unit_test(all_codes_have_the_run_lengths_of_the_base_sequence),
    cmocka_unit_test(no_code_is_the_product_of_two_other_codes),
    cmocka_unit_test(seed_chooses_start_and_assignment))
