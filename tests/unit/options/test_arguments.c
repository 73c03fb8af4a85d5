/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "options/arguments.h"

struct config {
    uint64_t count;
    int flag;
    char taken[200]; /* records "NAME=VALUE " for each call */
};

static int note(void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
    char *taken = ((struct config *)config)->taken;
    if (value && strcmp(value, "bad") == 0)
        return ss_error_fail(error, "'bad' is refused");
    size_t used = strlen(taken);
    snprintf(taken + used, sizeof((struct config *)config)->taken - used, "%s=%s ",
        row->option.name ? row->option.name : "", value ? value : "NULL");
    return 0;
}

// clang-format off
#define ROWS                                                                                       \
    {'n', "N", {"count", SS_OPTION_COUNT, .offset = offsetof(struct config, count), .help = "one"}}, \
    {'f', NULL, {"flag", .offset = offsetof(struct config, flag), .help = "two"}, .heading = "Flags:"}, \
    {'t', "TEXT", {"text", .help = "three"}, .take = note},                                          \
    {0, NULL, {"mark", .help = "four"}, .take = note}
static const struct ss_argument with_words[] = {ROWS, SS_ARGUMENTS_WORDS(note)};
static const struct ss_argument without_words[] = {ROWS, SS_ARGUMENTS_END};
// clang-format on

#define PARSE(rows, rest, ...)                                                                     \
    ss_arguments_parse(rows, &config, NULL,                                                        \
        (char **)(const char *[]){"program", __VA_ARGS__, NULL}, rest, &error)

static void option_handlers_get_options_and_words_in_order(void **state) {
    struct config config = {0};
    struct ss_error error = {0};
    (void)state;
    assert_int_equal(PARSE(with_words, NULL, "a", "--text=1", "-t", "2", "--mark", "-", "-ft3",
                         "-n4", "--", "--text", "--", "b"),
        0);
    assert_string_equal(config.taken, "=a text=1 text=2 mark=NULL =- text=3 =--text =-- =b ");
    assert_int_equal(config.count, 4);
    assert_int_equal(config.flag, 1);
}

static void error_of_an_option_handler_names_the_option(void **state) {
    struct config config = {0};
    struct ss_error error = {0};
    (void)state;
    assert_int_equal(PARSE(with_words, NULL, "-t", "bad"), -1);
    assert_string_equal(error.message, "--text: 'bad' is refused");
    error = (struct ss_error){0};
    assert_int_equal(PARSE(with_words, NULL, "bad"), -1);
    assert_string_equal(error.message, "'bad' is refused");
    error = (struct ss_error){0};
    assert_int_equal(PARSE(with_words, NULL, "--text"), -1);
    assert_string_equal(error.message, "--text requires a value: write --text TEXT");
    error = (struct ss_error){0};
    assert_int_equal(PARSE(with_words, NULL, "--mark=1"), -1);
    assert_string_equal(error.message, "--mark takes no value, but got '1'");
}

static void options_end_at_the_first_word_without_a_handler(void **state) {
    struct config config = {0};
    struct ss_error error = {0};
    char **rest;
    char **argv = (char **)(const char *[]){"program", "-f", "word", "-n4", NULL};
    (void)state;
    assert_int_equal(ss_arguments_parse(without_words, &config, NULL, argv, &rest, &error), 0);
    assert_ptr_equal(rest, argv + 2);
    assert_int_equal(config.count, 0);
    assert_int_equal(ss_arguments_parse(without_words, &config, NULL, argv, NULL, &error), -1);
    assert_string_equal(error.message, "unexpected argument 'word': see --help");
}

static void help_is_divided_by_headings(void **state) {
    char text[1000] = "";
    FILE *stream = fmemopen(text, sizeof text, "w");
    (void)state;
    ss_arguments_print_help(stream, with_words);
    fclose(stream);
    assert_string_equal(text, "  -n, --count N               one\n"
                              "Flags:\n"
                              "  -f, --flag                  two\n"
                              "  -t, --text TEXT             three\n"
                              "      --mark                  four\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(option_handlers_get_options_and_words_in_order),
        cmocka_unit_test(error_of_an_option_handler_names_the_option),
        cmocka_unit_test(options_end_at_the_first_word_without_a_handler),
        cmocka_unit_test(help_is_divided_by_headings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
