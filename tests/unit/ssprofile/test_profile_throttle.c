/* SPDX-License-Identifier: Apache-2.0 */

#include "throttle.h"
#include "unit.h"

/* Results that name a throttle can be measured again under the same one. */
static void names_lead_back_to_their_settings(void **state) {
    (void)state;
    static const struct {
        const char *text, *name;
    } rows[] = {
        {"without", "without"},
        {"duty=40%", "duty-4000"},
        {"duty=40.004%", "duty-4000.4"},
        {"quota=66.67%", "quota-6667"},
        {"load=1%", "load-100"},
        {"frequency=1400MHz", "frequency-1400"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ssprofile_throttle throttle = {0};
        struct ss_error error = {0};
        char name[32], text[64];
        assert_int_equal(ssprofile_throttle_parse(&throttle, rows[i].text, &error), 0);
        ssprofile_throttle_name(name, &throttle);
        assert_string_equal(name, rows[i].name);
        assert_true(ssprofile_throttle_word(text, name));
        assert_string_equal(text, rows[i].text);
    }
}

static void names_of_other_limits_are_not_throttles(void **state) {
    (void)state;
    static const char *const names[] = {"", "container", "duty", "duty-", "duty-4000x", "speed-1"};
    char text[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_false(ssprofile_throttle_word(text, names[i]));
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(names_lead_back_to_their_settings),
    cmocka_unit_test(names_of_other_limits_are_not_throttles))
// clang-format on
