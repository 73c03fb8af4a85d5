/* SPDX-License-Identifier: Apache-2.0 */
#include "quote.h"

#include "base/words.h"
#include "text.h"

static void assert_written(
    void (*quote)(FILE *stream, const char *text), const char *text, const char *expected) {
    quote(text_begin(), text);
    assert_string_equal(text_end(), expected);
}

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
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_written(quote_csv, cases[i].text, cases[i].expected);
}

TEST(control_characters_are_quoted_on_one_line) {
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"a", "a"},
        {"it's", "'it'\\''s'"},
        {"a\n'\\7\x7f\xc3\xa4", "$'a\\012\\'\\\\7\\177\xc3\xa4'"},
        {"\t1", "$'\\0111'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_written(quote_line, cases[i].text, cases[i].expected);
        char **words = ss_words_split(cases[i].expected, NULL, NULL);
        assert_string_equal(words[0], cases[i].text);
        assert_null(words[1]);
        free(words);
    }
}

TEST(final_backslash_continues_line_outside_of_comments_and_single_quotes) {
    static const char *const continued[] = {
        "\\", "a \\", "a\\\\\\", "\"a\\", "a#\\", "'a'\\", "$'a\\", "# a\nb \\", "'#' \\"};
    for (size_t i = 0; i < sizeof continued / sizeof *continued; i++) {
        if (!quote_is_continued(continued[i]))
            fail_msg("should be continued: %s", continued[i]);
    }
    static const char *const ended[] = {
        "", "a", "a\\\\", "a \\ ", "'a\\", "# \\", "a # \\", "\\$'a\\", "\"\" # \\", "$ 'a\\"};
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++) {
        if (quote_is_continued(ended[i]))
            fail_msg("should not be continued: %s", ended[i]);
    }
}

UNIT_RUN
