/* SPDX-License-Identifier: Apache-2.0 */

#include "base/number.h"
#include "unit.h"

static void assert_put(double number, const char *expected, const char *plain) {
    char text[SS_NUMBER_PLAIN_SIZE];
    assert_ptr_equal(ss_number_put(text, number), text + strlen(expected));
    assert_string_equal(text, expected);
    assert_ptr_equal(ss_number_put_plain(text, number), text + strlen(plain));
    assert_string_equal(text, plain);
}

TEST(numbers_are_printed_with_fewest_digits) {
    assert_put(0, "0", "0");
    assert_put(-0.0, "0", "0");
    assert_put(0.1, "0.1", "0.1");
    assert_put(-0.25, "-0.25", "-0.25");
    assert_put(0.1 + 0.2, "0.30000000000000004", "0.30000000000000004");
    assert_put(123456789.5, "123456789.5", "123456789.5");
    assert_put(999999999999999, "999999999999999", "999999999999999");
    assert_put(2e15, "2e+15", "2000000000000000");
    assert_put(-1.5e21, "-1.5e+21", "-1500000000000000000000");
    assert_put(1234567890123456.5, "1234567890123456.5", "1234567890123456.5");
    assert_put(0.0001, "0.0001", "0.0001");
    assert_put(0.00001, "1e-05", "0.00001");
    assert_put(-1.25e-9, "-1.25e-09", "-0.00000000125");
}

/* Compares with a search that tries one more decimal at a time. */
static void assert_shortest(double number) {
    char text[SS_NUMBER_PLAIN_SIZE], expected[SS_NUMBER_PLAIN_SIZE];
    for (int decimals = 0; decimals < 340; decimals++) {
        snprintf(expected, sizeof expected, "%.*f", decimals, number);
        if (strtod(expected, NULL) == number)
            break;
    }
    ss_number_put_plain(text, number);
    assert_string_equal(text, expected);
    ss_number_put(text, number);
    if (strtod(text, NULL) != number || strlen(text) >= SS_NUMBER_SIZE)
        fail_msg("%.17g was written as %s", number, text);
}

TEST(plain_numbers_have_fewest_decimals) {
    static const double numbers[] = {1.0 / 3, 2.0 / 3, 1e-300, 1.7976931348623157e308, 1e23,
        2.2250738585072014e-308, 9007199254740993.0, 18446744073709551615.0, -1.0 / 7e7};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_shortest(numbers[i]);
    srand(1);
    for (int i = 0; i < 3000; i++)
        assert_shortest(rand() / (double)RAND_MAX * pow(10, i % 40 - 20));
    for (int i = 0; i < 1000; i++)
        assert_shortest(i / 1000.0);
}

static void assert_fixed(double number, int decimals, const char *expected) {
    char text[64];
    assert_ptr_equal(ss_number_put_fixed(text, number, decimals), text + strlen(expected));
    assert_string_equal(text, expected);
}

TEST(numbers_agree_with_printf) {
    assert_fixed(0, 6, "0.000000");
    assert_fixed(0.5, 6, "0.500000");
    assert_fixed(-0.25, 6, "-0.250000");
    assert_fixed(-1e-9, 6, "0.000000");
    assert_fixed(1e6, 0, "1000000");
    assert_fixed(NAN, 6, "");
    assert_fixed(INFINITY, 6, "");
    assert_fixed(-INFINITY, 6, "");
    assert_fixed(1e300, 6, "");
    srand(1);
    for (int i = 0; i < 20000; i++) {
        double number = (rand() - RAND_MAX / 2) / 1e6 * (i % 7);
        char expected[64];
        snprintf(expected, sizeof expected, "%.4f", number);
        /* printf() rounds halves to even and prints a negative zero. */
        if (fabs(fabs(number) * 1e4 - floor(fabs(number) * 1e4) - 0.5) > 1e-3 && number != 0)
            assert_fixed(number, 4, expected);
    }
}

TEST(seconds_have_six_decimals) {
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {{1500000, "0.001500"}, {500, "0.000001"}, {-500, "0.000000"},
        {-2500000499, "-2.500000"}, {-2500000501, "-2.500001"}, {INT64_MIN, "-9223372036.854776"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        ss_number_put_seconds(text, rows[i].ns);
        assert_string_equal(text, rows[i].text);
    }
}

UNIT_RUN
