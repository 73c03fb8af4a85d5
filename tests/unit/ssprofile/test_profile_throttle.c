/* SPDX-License-Identifier: Apache-2.0 */

#include "throttle.h"
#include "unit.h"

TEST(throttles_have_names_and_meanings) {
    static const struct {
        const char *text, *name, *meaning;
    } rows[] = {
        {"without", "without", ""},
        {"duty=40%", "duty-4000", "run for 40% of the time"},
        {"duty=40.004%", "duty-4000.4", "run for 40.004% of the time"},
        {"quota=66.67%", "quota-6667", "a quota of 66.67% of a CPU"},
        {"load=1%", "load-100", "held at a load of 1%"},
        {"frequency=1400MHz", "frequency-1400", "a frequency of 1400 MHz"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ssprofile_throttle throttle = {0};
        struct ss_error error = {0};
        char name[32], text[64];
        assert_int_equal(ssprofile_throttle_parse(&throttle, rows[i].text, &error), 0);
        ssprofile_throttle_name(name, &throttle);
        assert_string_equal(name, rows[i].name);
        ssprofile_throttle_explain(text, name);
        assert_string_equal(text, rows[i].meaning);
    }
}

TEST(other_limits_have_no_meaning) {
    static const char *const names[] = {"", "container", "duty", "duty-", "duty-4000x", "speed-1"};
    char text[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ssprofile_throttle_explain(text, names[i]);
        assert_string_equal(text, "");
    }
}

UNIT_RUN
