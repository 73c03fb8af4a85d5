/* SPDX-License-Identifier: Apache-2.0 */
#include "quote.h"

#include "text.h"

TEST(csv_is_quoted_if_necessary) {
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"a b;c", "a b;c"},
        {"a,b", "\"a,b\""},
        {"\"", "\"\"\"\""},
        {"a\nb", "\"a\nb\""},
        {"a\rb", "\"a\rb\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        quote_csv(text_begin(), cases[i].text);
        assert_string_equal(text_end(), cases[i].expected);
    }
}

TEST(final_backslash_continues_line_outside_of_comments_and_single_quotes) {
    static const char *const continued[] = {
        "\\", "a \\", "a\\\\\\", "\"a\\", "a#\\", "'a'\\", "$'a\\", "# a\nb \\", "'#' \\"};
    for (size_t i = 0; i < sizeof continued / sizeof *continued; i++) {
        if (!quote_line_is_continued(continued[i]))
            fail_msg("should be continued: %s", continued[i]);
    }
    static const char *const ended[] = {
        "", "a", "a\\\\", "a \\ ", "'a\\", "# \\", "a # \\", "\\$'a\\", "\"\" # \\", "$ 'a\\"};
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++) {
        if (quote_line_is_continued(ended[i]))
            fail_msg("should not be continued: %s", ended[i]);
    }
}

UNIT_RUN
