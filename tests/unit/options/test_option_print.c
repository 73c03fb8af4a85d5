/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "options/values.h"
#include "text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

union value {
    ss_time time;
    double number;
    uint64_t count;
    int choice;
    const char *text;
};

static struct ss_option row_of(enum ss_option_type type) {
    return (struct ss_option){.name = "x", .type = type, .choices = "on off on-off"};
}

static void set(const struct ss_option *row, const char *text, union value *value) {
    static struct ss_option_store store;
    struct ss_error error = {0};
    ss_option_store_free(&store);
    *value = (union value){0};
    assert_succeeds(ss_option_set(row, text, value, &store, &error), error);
}

static void assert_printed(enum ss_option_type type, const char *text, const char *expected) {
    struct ss_option row = row_of(type);
    union value value;
    char printed[256] = "";
    set(&row, text, &value);
    ss_option_print_value(printed, sizeof printed, &row, &value);
    assert_string_equal(printed, expected);
}

/*
 * Checks that the value is printed as a user could write it, and that the text parses to the same
 * value.
 */
static void assert_read_back(enum ss_option_type type, const char *text) {
    struct ss_option row = row_of(type);
    union value value, again;
    char printed[256] = "";
    set(&row, text, &value);
    ss_option_print_value(printed, sizeof printed, &row, &value);
    set(&row, printed, &again);
    if (memcmp(&value, &again, sizeof value) != 0)
        fail_msg("'%s' was printed as '%s', which is a different value", text, printed);
}

TEST(option_values_are_printed_as_users_write_them) {
    assert_printed(SS_OPTION_TIME, "0.107s", "107m");
    assert_printed(SS_OPTION_TIME, "0", "0");
    assert_printed(SS_OPTION_LOAD, "60%", "0.6");
    assert_printed(SS_OPTION_LOAD, "1", "1");
    assert_printed(SS_OPTION_COUNT, "18446744073709551615", "18446744073709551615");
    assert_printed(SS_OPTION_NUMBER, "1/4", "0.25");
    assert_printed(SS_OPTION_NUMBER, "0.1", "0.1");
    assert_printed(SS_OPTION_NUMBER, "0", "0");
    assert_printed(SS_OPTION_CHOICE, "on", "on");
    assert_printed(SS_OPTION_CHOICE, "off", "off");
    assert_printed(SS_OPTION_CHOICE, "on-off", "on-off");
    assert_printed(SS_OPTION_TEXT, "a b", "a b");
}

TEST(printed_option_times_are_read_back) {
    static const char *const texts[] = {"0", "1n", "1500u", "107m", "1/3s", "90M", "1d", "1.5h"};
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_read_back(SS_OPTION_TIME, texts[i]);
}

TEST(printed_option_numbers_are_read_back) {
    static const char *const texts[] = {"1/3", "2/3", "1/7", "0.1", "1.1", "9.99", "123.456",
        "3.14159265358979323846", "9007199254740993"};
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_read_back(SS_OPTION_NUMBER, texts[i]);
    static const char *const loads[] = {"1/3", "33.3%", "0.999999", "2/7", "0.0001"};
    for (size_t i = 0; i < COUNT(loads); i++)
        assert_read_back(SS_OPTION_LOAD, loads[i]);
}

/* The parser has no exponents. */
TEST(round_and_small_numbers_are_read_back) {
    assert_read_back(SS_OPTION_NUMBER, "10");
    assert_read_back(SS_OPTION_NUMBER, "20");
    assert_read_back(SS_OPTION_NUMBER, "1000000");
    assert_read_back(SS_OPTION_NUMBER, "100000000000000000000");
    assert_read_back(SS_OPTION_NUMBER, "0.00001");
    assert_read_back(SS_OPTION_NUMBER, "1/300000");
    assert_read_back(SS_OPTION_LOAD, "0.000025");
    assert_printed(SS_OPTION_NUMBER, "10", "10");
    assert_printed(SS_OPTION_NUMBER, "100", "100");
    assert_printed(SS_OPTION_LOAD, "0.001%", "0.00001");
}

TEST(missing_option_text_is_printed_as_empty) {
    struct ss_option row = row_of(SS_OPTION_TEXT);
    const char *none = NULL;
    char printed[8] = "before";
    ss_option_print_value(printed, sizeof printed, &row, &none);
    assert_string_equal(printed, "");
}

TEST(option_printing_stays_within_its_buffer) {
    static const enum ss_option_type types[] = {SS_OPTION_TIME, SS_OPTION_LOAD, SS_OPTION_COUNT,
        SS_OPTION_NUMBER, SS_OPTION_CHOICE, SS_OPTION_TEXT};
    static const char *const texts[] = {
        "1234567n", "0.123456", "1234567", "1234567", "on-off", "1234567"};
    for (size_t i = 0; i < COUNT(types); i++) {
        struct ss_option row = row_of(types[i]);
        union value value;
        char printed[] = "........";
        set(&row, texts[i], &value);
        ss_option_print_value(printed, 4, &row, &value);
        assert_int_equal(printed[3], '\0');
        assert_string_equal(printed + 4, "....");
    }
}

static void assert_wrapped(int margin, const char *text, const char *expected) {
    ss_option_print_wrapped(text_begin(), margin, text);
    assert_string_equal(text_end(), expected);
}

/* A margin of 70 leaves columns 71 to 79: nine letters. */
#define MARGIN "                                                                      "

TEST(option_text_is_wrapped_at_column_79) {
    assert_int_equal(strlen(MARGIN), 70);
    assert_wrapped(70, "123456789", "123456789\n");
    assert_wrapped(70, "1234 6789", "1234 6789\n");
    assert_wrapped(70, "1234 67890", "1234\n" MARGIN "67890\n");
    assert_wrapped(70, "123456789 b", "123456789\n" MARGIN "b\n");
    assert_wrapped(70, "a b c d e f g h", "a b c d e\n" MARGIN "f g h\n");
    assert_wrapped(70, "", "");
}

TEST(overlong_word_of_help_is_not_cut) {
    assert_wrapped(70, "1234567890ab b", "1234567890ab\n" MARGIN "b\n");
    assert_wrapped(70, "a 1234567890ab", "a\n" MARGIN "1234567890ab\n");
    assert_wrapped(70, "1234567890ab", "1234567890ab\n");
}

static char *help_of(const struct ss_option *rows) {
    ss_option_print_help(text_begin(), rows);
    return text_end();
}

TEST(option_help_includes_type_bounds_and_default) {
    static const struct ss_option rows[] = {
        {.name = "path", .type = SS_OPTION_TEXT, .help = "a file", .required = 1},
        {.name = "length",
            .type = SS_OPTION_TIME,
            .initial = "20s",
            .min = "1u",
            .max = "1h",
            .help = "how long"},
        {.name = "part", .type = SS_OPTION_LOAD, .help = "how much"},
        {.name = "copies", .type = SS_OPTION_COUNT, .help = "how many"},
        {.name = "gain", .type = SS_OPTION_NUMBER, .help = "how steep"},
        {.name = "mode", .type = SS_OPTION_CHOICE, .choices = "on off", .help = "which"},
        SS_OPTION_END};
    char *text = help_of(rows);
    assert_string_equal(text,
        "  path=TEXT (main option: may come first without its name)\n      a file; required\n"
        "  length=TIME\n      how long; at least 1u; at most 1h; default 20s\n"
        "  part=LOAD\n      how much\n"
        "  copies=COUNT\n      how many\n"
        "  gain=NUMBER\n      how steep\n"
        "  mode=WORD\n      which; one of: on off\n");
}

TEST(option_help_is_wrapped_at_column_79) {
    static const struct ss_option rows[] = {
        {.name = "x",
            .type = SS_OPTION_TEXT,
            .help = "one two three four five six seven eight nine ten eleven twelve thirteen "
                    "fourteen fifteen sixteen seventeen eighteen nineteen twenty",
            .initial = "a value of several words that is long"},
        SS_OPTION_END};
    char *text = help_of(rows);
    int lines = 0;
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest), lines++)
        assert_in_range(strlen(line), 1, 79);
    /* The name, and 6 + 124 + 47 letters of text in lines of 73. */
    assert_int_equal(lines, 1 + 3);
}

TEST(help_mentions_a_module_without_options) {
    static const struct ss_option none[] = {SS_OPTION_END};
    assert_string_equal(help_of(NULL), "  no options\n");
    assert_string_equal(help_of(none), "  no options\n");
}

UNIT_RUN
