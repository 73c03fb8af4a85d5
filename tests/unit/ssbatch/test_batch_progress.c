/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"
#include "text.h"

TEST(spans_are_printed_in_readable_units) {
    static const struct {
        double seconds;
        const char *expected;
    } rows[] = {
        {0.25, "0.25 s"},
        {59.4, "59.4 s"},
        {361, "6 min 01 s"},
        {7200, "2 h 00 min"},
        {7442.6, "2 h 04 min"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ssbatch_span_print(text_begin(), ss_time_from_double(rows[i].seconds * 1e9));
        assert_string_equal(text_end(), rows[i].expected);
    }
}

UNIT_RUN
