/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "show.h"
#include "unit.h"

TEST(shown_times_have_three_digits_and_a_unit) {
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{NAN, "-"}, {0, "0 s"}, {980e-6, "980 us"}, {5e-9, "0.01 us"},
        {0.0123456, "12.3 ms"}, {1.5, "1.50 s"}, {3600, "3600 s"}, {0.99996, "1.00 s"},
        {0.009996, "10.0 ms"}, {0.09996, "100 ms"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(request_show_time(rows[i].seconds).text, rows[i].text);
    assert_string_equal(request_show_number(9.999).text, "10.0");
}

TEST(shown_numbers_keep_their_integer_part) {
    assert_string_equal(request_show_number(NAN).text, "-");
    assert_string_equal(request_show_number(200).text, "200");
    assert_string_equal(request_show_number(0.25).text, "0.25");
    assert_string_equal(request_show_number(0.001234).text, "0.00123");
    assert_string_equal(request_show_number(0.9996).text, "1.00");
    assert_string_equal(request_show_number(1234.5678).text, "1235");
    assert_string_equal(request_show_count(0).text, "0");
    assert_string_equal(request_show_count(999).text, "999");
    assert_string_equal(request_show_count(1000).text, "1,000");
    assert_string_equal(request_show_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

TEST(share_is_shown_as_0_or_100_percent_only_if_exact) {
    assert_string_equal(request_show_share(0, 0).text, "-");
    assert_string_equal(request_show_share(0, 7).text, "0 %");
    assert_string_equal(request_show_share(7, 7).text, "100 %");
    assert_string_equal(request_show_share(1, 1000000).text, "less than 0.01 %");
    assert_string_equal(request_show_share(999999, 1000000).text, "more than 99.99 %");
    assert_string_equal(request_show_share(9995, 10000).text, "99.95 %");
    assert_string_equal(request_show_share(1, 3).text, "33.3 %");
}

UNIT_RUN
