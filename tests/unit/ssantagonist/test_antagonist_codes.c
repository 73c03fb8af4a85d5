/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "codes.h"

#define SLOTS (2 * CODES_LENGTH)

/* The largest number of suspects. */
static struct codes all_codes(void) {
    struct codes codes = {.suspects = CODES_SUSPECTS_MAX, .slots = SLOTS, .start = 5};
    for (uint32_t code = 0; code < CODES_MAX; code++)
        codes.shifts[code] = 3 * code;
    return codes;
}

static int sign(const struct codes *codes, size_t code, size_t slot) {
    return codes_low(codes, code, slot) ? 1 : -1;
}

TEST(every_code_throttles_in_half_of_the_slots) {
    struct codes codes = all_codes();
    for (size_t code = 0; code < codes_count(&codes); code++) {
        int sum = 0;
        for (size_t slot = 0; slot < SLOTS; slot++)
            sum += sign(&codes, code, slot);
        assert_int_equal(sum, 0);
    }
}

TEST(second_half_of_each_code_inverts_the_first) {
    struct codes codes = all_codes();
    for (size_t code = 0; code < codes_count(&codes); code++) {
        for (size_t slot = 0; slot < CODES_LENGTH; slot++)
            assert_int_equal(sign(&codes, code, slot), -sign(&codes, code, slot + CODES_LENGTH));
    }
}

/* The sequence is the same in all codes: 1 run of 6, 1 of 4, 2 of 3, 4 of 2 and 8 of 1. */
TEST(all_codes_have_the_run_lengths_of_the_base_sequence) {
    struct codes codes = all_codes();
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

UNIT_RUN
