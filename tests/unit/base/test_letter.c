/* SPDX-License-Identifier: Apache-2.0 */
#include <showstopper/error.h>
#include <showstopper/letter.h>

#include "base/json.h"
#include "base/words.h"
#include "text.h"

/* Texts with and without control characters. U+009B begins an escape sequence, as ESC [ does. */
static const struct {
    const char *text, *hidden;
} cases[] = {
    {"", ""},
    {"plain \xc3\x84\xe2\x82\xac\xf0\x9f\x98\x80", "plain \xc3\x84\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"a\033[31m\n\x7f", "a?[31m??"},
    {"a\xc2\x9b"
     "31m\xc2\x80",
        "a??31m??"},
    {"\xc2\xa0", "\xc2\xa0"},
    {"a\x9b"
     "31m",
        "a?31m"},
    {"\xc3\x84\x84\xff", "\xc3\x84?\xff"},
};

#define CASES (sizeof cases / sizeof *cases)

TEST(control_characters_are_hidden) {
    for (size_t i = 0; i < CASES; i++) {
        char text[64];
        strcpy(text, cases[i].text);
        ss_letter_hide_controls(text, '?');
        assert_string_equal(text, cases[i].hidden);
        assert_int_equal(ss_letter_has_controls(cases[i].text), strcmp(text, cases[i].text) != 0);
    }
}

TEST(messages_contain_no_control_characters) {
    for (size_t i = 0; i < CASES; i++) {
        struct ss_error error = {0};
        char wrapped[64];
        ss_error_fail(&error, "%s", cases[i].text);
        assert_string_equal(error.message, cases[i].hidden);
        ss_error_wrap(&error, "%s", cases[i].text);
        snprintf(wrapped, sizeof wrapped, "%s: %s", cases[i].hidden, cases[i].hidden);
        assert_string_equal(error.message, wrapped);
        assert_false(ss_letter_has_controls(ss_words_show(cases[i].text).text));
        ss_words_print(text_begin(), cases[i].text);
        assert_false(ss_letter_has_controls(text_end()));
        ss_words_quote(text_begin(), cases[i].text);
        assert_false(ss_letter_has_controls(text_end()));
        struct ss_json json = {.stream = text_begin()};
        ss_json_text(&json, NULL, cases[i].text);
        assert_false(ss_letter_has_controls(text_end()));
    }
}

UNIT_RUN
