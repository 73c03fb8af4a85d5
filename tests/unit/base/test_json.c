/* SPDX-License-Identifier: Apache-2.0 */

#include "base/json.h"
#include "text.h"

static struct ss_json json;

static void begin(void) {
    json = (struct ss_json){.stream = text_begin()};
}

static void assert_written(const char *expected) {
    assert_string_equal(text_end(), expected);
}

static void assert_text(const char *value, const char *expected) {
    begin();
    ss_json_text(&json, NULL, value);
    assert_written(expected);
}

static void assert_number(double value, const char *expected) {
    begin();
    ss_json_number(&json, NULL, value);
    assert_written(expected);
}

TEST(json_lists_and_objects_can_be_nested) {
    begin();
    ss_json_open(&json, NULL, '{');
    ss_json_text(&json, "a", "b");
    ss_json_open(&json, "list", '[');
    ss_json_number(&json, NULL, 1);
    ss_json_open(&json, NULL, '{');
    ss_json_close(&json, '}');
    ss_json_open(&json, NULL, '[');
    ss_json_text(&json, NULL, NULL);
    ss_json_close(&json, ']');
    ss_json_close(&json, ']');
    ss_json_open(&json, "none", '[');
    ss_json_close(&json, ']');
    ss_json_number(&json, "last", 0.5);
    ss_json_close(&json, '}');
    assert_written("{\n"
                   "  \"a\": \"b\",\n"
                   "  \"list\": [\n"
                   "    1,\n"
                   "    {},\n"
                   "    [\n"
                   "      null\n"
                   "    ]\n"
                   "  ],\n"
                   "  \"none\": [],\n"
                   "  \"last\": 0.5\n"
                   "}\n");
}

TEST(json_texts_are_quoted) {
    assert_text("", "\"\"");
    assert_text("plain / text", "\"plain / text\"");
    assert_text("\"\\", "\"\\\"\\\\\"");
    assert_text(NULL, "null");
    begin();
    ss_json_open(&json, NULL, '{');
    ss_json_text(&json, "a\"b\n", "x");
    ss_json_close(&json, '}');
    assert_written("{\n  \"a\\\"b\\u000a\": \"x\"\n}\n");
}

TEST(control_characters_are_escaped) {
    for (unsigned char c = 1; c < 0x20; c++) {
        char value[] = {(char)c, '\0'}, expected[16];
        snprintf(expected, sizeof expected, "\"\\u%04x\"", c);
        assert_text(value, expected);
    }
    assert_text("\x7f", "\"\\u007f\"");
    assert_text("\x1f !", "\"\\u001f !\"");
}

TEST(valid_utf8_is_kept_in_json) {
    static const char *const texts[] = {
        "\xc2\xa0",         /* U+00A0, the first of two bytes after the control characters */
        "\xdf\xbf",         /* U+07FF, the last of two */
        "\xe0\xa0\x80",     /* U+0800, the first of three */
        "\xe2\x82\xac",     /* U+20AC, the euro sign */
        "\xed\x9f\xbf",     /* U+D7FF, the last before the surrogates */
        "\xee\x80\x80",     /* U+E000, the first after them */
        "\xef\xbf\xbf",     /* U+FFFF, the last of three */
        "\xf0\x90\x80\x80", /* U+10000, the first of four */
        "\xf3\xbf\xbf\xbf", /* U+FFFFF */
        "\xf4\x8f\xbf\xbf", /* U+10FFFF, the last code point */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "\"%s\"", texts[i]);
        assert_text(texts[i], expected);
    }
}

#define BAD "\\ufffd"

TEST(invalid_and_truncated_utf8_is_replaced) {
    assert_text("a\x80z", "\"a" BAD "z\""); /* a lone continuation byte */
    assert_text("a\xbfz", "\"a" BAD "z\"");
    assert_text("\xc0\x80", "\"" BAD BAD "\""); /* overlong, two bytes */
    assert_text("\xc1\xbf", "\"" BAD BAD "\"");
    assert_text("\xe0\x9f\xbf", "\"" BAD BAD BAD "\"");         /* overlong, three */
    assert_text("\xf0\x8f\xbf\xbf", "\"" BAD BAD BAD BAD "\""); /* overlong, four */
    assert_text("\xed\xa0\x80", "\"" BAD BAD BAD "\"");         /* the first surrogate */
    assert_text("\xed\xbf\xbf", "\"" BAD BAD BAD "\"");         /* the last */
    assert_text("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\""); /* beyond U+10FFFF */
    assert_text("\xf5\x80\x80\x80", "\"" BAD BAD BAD BAD "\"");
    assert_text("\xfe\xff", "\"" BAD BAD "\"");
    /* Truncated characters. */
    assert_text("\xc3", "\"" BAD "\"");
    assert_text("\xe2\x82", "\"" BAD BAD "\"");
    assert_text("\xf0\x9f\x98", "\"" BAD BAD BAD "\"");
    /* Text after the truncated character is kept. */
    assert_text("\xc3(", "\"" BAD "(\"");
    assert_text("\xe2\x82\"", "\"" BAD BAD "\\\"\"");
    assert_text("\xe2(\xac", "\"" BAD "(" BAD "\"");
    assert_text("\xc3\xc3\xa9", "\"" BAD "\xc3\xa9\"");
    assert_text("\xe2\xc3\xa9", "\"" BAD "\xc3\xa9\"");
}

TEST(non_finite_numbers_are_null_in_json) {
    assert_number(NAN, "null");
    assert_number(INFINITY, "null");
    assert_number(-INFINITY, "null");
    begin();
    ss_json_digits(&json, NULL, "-inf");
    assert_written("null");
}

TEST(json_numbers_are_read_back_exactly) {
    static const double numbers[] = {1.0 / 3, 2.0 / 3, 0.1 + 0.2, 1e21, 1e-7, 5e-324,
        1.7976931348623157e308, 9007199254740991, 9007199254740993.0, 123456789.123456789,
        18446744073709551615.0, -1.0 / 7};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        begin();
        ss_json_number(&json, NULL, numbers[i]);
        char *text = text_end(), *end;
        if (strtod(text, &end) != numbers[i] || *end)
            fail_msg("%.17g was written as %s", numbers[i], text);
        /* JSON allows no other characters in a number. */
        assert_int_equal(strspn(text, "0123456789+-.e"), strlen(text));
    }
}

UNIT_RUN
