/* SPDX-License-Identifier: Apache-2.0 */

#include "throttle.h"
#include "unit.h"

TEST(throttles_have_names) {
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
        char name[32];
        assert_int_equal(ssprofile_throttle_parse(&throttle, rows[i].text, &error), 0);
        ssprofile_throttle_name(name, &throttle);
        assert_string_equal(name, rows[i].name);
    }
}

UNIT_RUN
