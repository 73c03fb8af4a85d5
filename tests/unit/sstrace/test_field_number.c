/* SPDX-License-Identifier: Apache-2.0 */

#include "unit.h"

#include "fields.h"

static void assert_nearest(const char *text) {
    struct text_field field = {.text = text, .length = strlen(text)};
    double value;
    assert_true(text_field_number(&field, false, &value));
    assert_that(value, ==, strtod(text, NULL));
}

TEST(number_with_many_digits_becomes_the_nearest) {
    assert_nearest("33.127293586398185");
    assert_nearest("5879338.7516356376");
    assert_nearest("1.1330932319969792");
    assert_nearest("-0.00010311471315875332");
    assert_nearest("1.7976931348623157e308");
    assert_nearest("2.2250738585072014e-308");
    assert_nearest("5e-324");
}

UNIT_RUN
