/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdlib.h>

#include "base/words.h"
#include "options/arguments.h"

#define AT(member) .offset = offsetof(struct config, member)

struct config {
    uint64_t count;
    int flag;
    char **words;
    char taken[200]; /* records "NAME=VALUE " for each call */
};

static int record_argument(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
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
    {'t', "TEXT", {"text", .help = "three"}, .take = record_argument},                               \
    {0, NULL, {"mark", .help = "four"}, .take = record_argument}
static const struct ss_argument with_words[] = {ROWS, SS_ARGUMENTS_WORDS(record_argument)};
static const struct ss_argument with_list[] = {ROWS, SS_ARGUMENTS_WORDS_AT(struct config, words, 3)};
static const struct ss_argument without_words[] = {ROWS, SS_ARGUMENTS_END};
// clang-format on

#define PARSE(rows, rest, ...)                                                                     \
    ss_arguments_parse(rows, &config, NULL,                                                        \
        (char **)(const char *[]){"program", __VA_ARGS__, NULL}, rest, &error)

TEST(option_handlers_get_options_and_words_in_order) {
    struct config config = {0};
    struct ss_error error = {0};
    assert_int_equal(PARSE(with_words, NULL, "a", "--text=1", "-t", "2", "--mark", "-", "-ft3",
                         "-n4", "--", "--text", "--", "b"),
        0);
    assert_string_equal(config.taken, "=a text=1 text=2 mark=NULL =- text=3 =--text =-- =b ");
    assert_int_equal(config.count, 4);
    assert_int_equal(config.flag, 1);
}

TEST(error_of_an_option_handler_names_the_option) {
    static const struct {
        const char *words[2], *message;
    } cases[] = {
        {{"-t", "bad"}, "--text: 'bad' is refused"},
        {{"bad"}, "'bad' is refused"},
        {{"--text"}, "--text requires a value: use --text TEXT"},
        {{"--mark=1"}, "--mark takes no value, but got '1'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config config = {0};
        struct ss_error error = {0};
        assert_int_equal(PARSE(with_words, NULL, cases[i].words[0], cases[i].words[1]), -1);
        assert_string_equal(error.message, cases[i].message);
    }
}

TEST(options_end_at_the_first_word_without_a_handler) {
    struct config config = {0};
    struct ss_error error = {0};
    char **rest;
    char **argv = (char **)(const char *[]){"program", "-f", "word", "-n4", NULL};
    assert_int_equal(ss_arguments_parse(without_words, &config, NULL, argv, &rest, &error), 0);
    assert_ptr_equal(rest, argv + 2);
    assert_int_equal(config.count, 0);
    assert_fails(ss_arguments_parse(without_words, &config, NULL, argv, NULL, &error), error,
        "unexpected argument 'word': see --help");
}

TEST(words_make_a_list_up_to_the_limit) {
    struct config config = {0};
    struct ss_error error = {0};
    char **rest;
    char **argv = (char **)(const char *[]){"program", "a", "-f", "b", "-n4", "--", "-n5", NULL};
    assert_int_equal(ss_arguments_parse(with_list, &config, NULL, argv, &rest, &error), 0);
    assert_string_equal(config.words[0], "a");
    assert_string_equal(config.words[1], "b");
    assert_null(config.words[2]);
    assert_string_equal(rest[0], "-n5");
    assert_int_equal(config.count, 4);
    assert_int_equal(PARSE(with_list, &rest, "-f"), 0);
    assert_null(rest);
    assert_null(config.words[0]);
    assert_int_equal(PARSE(with_list, NULL, "a", "--", "--", "-f"), 0);
    assert_string_equal(config.words[2], "-f");
    assert_int_equal(PARSE(with_list, NULL, "a", "b", "--", "c", "d"), -1);
    assert_string_equal(error.message, "unexpected argument 'd': see --help");
}

// clang-format off
static const struct ss_argument related[] = {
    {'a', "N", {"apple", SS_OPTION_COUNT, AT(count), .initial = "3", .help = "one"}, .needs = "pear"},
    {0, NULL, {"fig", AT(flag), .help = "two"}, .needs = "apple pear WORD"},
    {0, NULL, {"pear", AT(flag), .help = "three"}, .excludes = "plum"},
    {0, NULL, {"plum", AT(flag), .help = "four"}, .excludes = "fig lime WORD"},
    {0, NULL, {"lime", AT(flag), .help = "five"}, .only_with = "fig pear"},
    {0, NULL, {"kiwi", AT(flag), .help = "six"}, .only_with = ""},
    {0, NULL, {"help", AT(flag), .help = "seven"}},
    SS_ARGUMENTS_END,
};
// clang-format on

TEST(related_options_are_checked) {
    static const struct {
        const char *line, *message; /* without a message if accepted */
    } cases[] = {
        {"", NULL},
        {"-a3", "--apple requires --pear: add it, or leave out --apple"},
        {"--pear -a3", NULL},
        {"--fig", "--fig requires --apple, --pear or WORD: add one of them, or leave out --fig"},
        {"--fig --pear", NULL},
        {"--fig word", NULL},
        {"--pear --plum", "--pear cannot be combined with --plum: leave out one of the two"},
        {"--plum --pear", "--pear cannot be combined with --plum: leave out one of the two"},
        {"--plum --lime", "--plum cannot be combined with --lime: leave out one of the two"},
        {"--plum -- word -a3", "--plum cannot be combined with 'word': leave out one of the two"},
        {"--lime --fig --pear", NULL},
        {"--lime word", "--lime cannot be combined with 'word': leave out one of the two"},
        {"--lime --kiwi", "--lime cannot be combined with --kiwi: leave out one of the two"},
        {"--kiwi", NULL},
        {"--kiwi word", "--kiwi cannot be combined with 'word': leave out one of the two"},
        {"--kiwi --pear", "--kiwi cannot be combined with --pear: leave out one of the two"},
        {"--help --fig --plum --kiwi", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config config = {0};
        struct ss_error error = {0};
        char line[100];
        char **rest;
        snprintf(line, sizeof line, "program %s", cases[i].line);
        char **argv = ss_words_split(line, NULL, NULL);
        int status = ss_arguments_parse(related, &config, NULL, argv, &rest, &error);
        assert_int_equal(status, cases[i].message ? -1 : 0);
        assert_string_equal(error.message, cases[i].message ? cases[i].message : "");
        free(argv);
    }
}

TEST(misspelled_relation_is_refused_without_the_option) {
    static const struct ss_argument rows[] = {
        {0, NULL, {"mark", .offset = offsetof(struct config, flag), .help = "one"},
            .excludes = "marc"},
        SS_ARGUMENTS_END,
    };
    struct config config = {0};
    struct ss_error error = {0};
    assert_fails(ss_arguments_parse(
                     rows, &config, NULL, (char **)(const char *[]){"program", NULL}, NULL, &error),
        error, "unknown option '--marc': did you mean '--mark'?");
}

TEST(help_lists_related_options_and_headings) {
    ss_arguments_print_help(text_begin(), related);
    assert_string_equal(text_end(),
        "  -a, --apple N               one; requires --pear; default 3\n"
        "      --fig                   two; requires --apple, --pear or WORD\n"
        "      --pear                  three; not with --plum\n"
        "      --plum                  four; not with --fig, --lime or WORD\n"
        "      --lime                  five; not with other options except --fig or\n"
        "                              --pear\n"
        "      --kiwi                  six; not with other options\n"
        "      --help                  seven\n");
    ss_arguments_print_help(text_begin(), with_words);
    assert_says(text_end(), "  -n, --count N               one\nFlags:\n  -f, --flag ");
}

UNIT_RUN
