/* SPDX-License-Identifier: Apache-2.0 */
#include "quantity.h"
#include "unit.h"

TEST(frequencies_sizes_and_powers_have_units) {
    static const struct {
        const struct quantity *kind;
        const char *text;
        uint64_t value;
        const char *printed;
    } cases[] = {
        {&quantity_frequency, "1.4GHz", 1400000000, "1.4GHz"},
        {&quantity_frequency, "800000kHz", 800000000, "800MHz"},
        {&quantity_frequency, "1Hz", 1, "1Hz"},
        {&quantity_size, "4G", UINT64_C(4) << 30, "4G"},
        {&quantity_size, "512MiB", UINT64_C(512) << 20, "512M"},
        {&quantity_size, "1.5k", 1536, "1.5K"},
        {&quantity_size, "1/3G", 357913941, "341.333333M"},
        {&quantity_size, "100B", 100, "100B"},
        {&quantity_power, "80W", 80000000, "80W"},
        {&quantity_power, "62.5mW", 62500, "62.5mW"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 0;
        char text[40];
        struct ss_error error = {0};
        assert_int_equal(quantity_parse(cases[i].kind, cases[i].text, &value, &error), 0);
        assert_that(value, ==, cases[i].value);
        quantity_print(cases[i].kind, text, sizeof text, value);
        assert_string_equal(text, cases[i].printed);
    }
}

TEST(quantities_without_a_known_unit_are_refused) {
    static const struct {
        const struct quantity *kind;
        const char *text, *part;
    } cases[] = {
        {&quantity_frequency, "1.4", "not a frequency: use a number and a unit, such as 1.4GHz"},
        {&quantity_frequency, "fast", "not a frequency"},
        {&quantity_frequency, "GHz", "not a frequency"},
        {&quantity_frequency, "0GHz", "too small"},
        {&quantity_frequency, "1/0GHz", "not a frequency"},
        {&quantity_size, "4 G", "not a size"},
        {&quantity_size, "-1G", "not a size"},
        {&quantity_size, "99999999999999T", "too large"},
        {&quantity_power, "80GHz", "not a power"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value;
        struct ss_error error = {0};
        assert_fails(
            quantity_parse(cases[i].kind, cases[i].text, &value, &error), error, cases[i].part);
    }
}

UNIT_RUN
