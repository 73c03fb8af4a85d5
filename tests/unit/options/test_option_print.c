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

TEST(option_values_are_printed_as_users_write_them) {
    static const struct {
        enum ss_option_type type;
        const char *text, *printed;
    } cases[] = {
        {SS_OPTION_TIME, "0.107s", "107m"},
        {SS_OPTION_TIME, "0", "0"},
        {SS_OPTION_LOAD, "60%", "0.6"},
        {SS_OPTION_LOAD, "1", "1"},
        {SS_OPTION_LOAD, "0.001%", "0.00001"}, /* the parser has no exponents */
        {SS_OPTION_COUNT, "18446744073709551615", "18446744073709551615"},
        {SS_OPTION_NUMBER, "1/4", "0.25"},
        {SS_OPTION_NUMBER, "0.1", "0.1"},
        {SS_OPTION_NUMBER, "0", "0"},
        {SS_OPTION_NUMBER, "100", "100"},
        {SS_OPTION_CHOICE, "on", "on"},
        {SS_OPTION_CHOICE, "on-off", "on-off"},
        {SS_OPTION_TEXT, "a b", "a b"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ss_option row = row_of(cases[i].type);
        union value value;
        char printed[256] = "";
        set(&row, cases[i].text, &value);
        ss_option_print_value(printed, sizeof printed, &row, &value);
        assert_string_equal(printed, cases[i].printed);
    }
}

/* A printed value must be accepted as input, and be the same value. */
TEST(printed_option_values_are_read_back) {
    static const struct {
        enum ss_option_type type;
        const char *texts[16];
    } cases[] = {
        {SS_OPTION_TIME, {"0", "1n", "1500u", "107m", "1/3s", "90M", "1d", "1.5h"}},
        {SS_OPTION_NUMBER,
            {"1/3", "1/7", "0.1", "1.1", "123.456", "3.14159265358979323846", "9007199254740993",
                "10", "1000000", "100000000000000000000", "0.00001", "1/300000"}},
        {SS_OPTION_LOAD, {"1/3", "33.3%", "0.999999", "2/7", "0.0001", "0.000025"}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ss_option row = row_of(cases[i].type);
        for (const char *const *text = cases[i].texts; *text; text++) {
            union value value, again;
            char printed[256] = "";
            set(&row, *text, &value);
            ss_option_print_value(printed, sizeof printed, &row, &value);
            set(&row, printed, &again);
            if (memcmp(&value, &again, sizeof value) != 0)
                fail_msg("'%s' was printed as '%s', which is a different value", *text, printed);
        }
    }
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
    assert_wrapped(70, "1234 67890", "1234\n" MARGIN "67890\n");
    assert_wrapped(70, "a b c d e f g h", "a b c d e\n" MARGIN "f g h\n");
    assert_wrapped(70, "", "");
    /* A longer word is not cut. */
    assert_wrapped(70, "a 1234567890ab b", "a\n" MARGIN "1234567890ab\n" MARGIN "b\n");
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
    assert_string_equal(help_of(NULL), "  no options\n");
    assert_string_equal(help_of(&rows[6]), "  no options\n");
}

UNIT_RUN
