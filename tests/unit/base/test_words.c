/* SPDX-License-Identifier: Apache-2.0 */

#include "base/words.h"
#include "text.h"

/* `expected` has each word in brackets. */
static void assert_words(const char *line, const char *expected) {
    struct ss_error error = {0};
    size_t count = 99;
    char **words = ss_words_split(line, &count, &error);
    if (!words)
        fail_msg("'%s' was refused: %s", line, error.message);
    char found[256] = "";
    for (size_t i = 0; i < count; i++) {
        strcat(found, "[");
        strcat(found, words[i]);
        strcat(found, "]");
    }
    assert_null(words[count]);
    assert_string_equal(found, expected);
    free(words);
}

TEST(blanks_separate_words) {
    assert_words("", "");
    assert_words(" \t\r\n", "");
    assert_words("a", "[a]");
    assert_words("  2 java\t-jar  x.jar\r\n", "[2][java][-jar][x.jar]");
}

TEST(quotes_preserve_blanks) {
    assert_words("sh -c 'echo \"$HOME\" \\n'", "[sh][-c][echo \"$HOME\" \\n]");
    assert_words("\"a b\"'c d'e", "[a bc de]");
    assert_words("'' \"\"", "[][]");
    assert_words("a''b", "[ab]");
    assert_words("\"it's\"", "[it's]");
}

TEST(backslashes_escape_the_next_character) {
    assert_words("a\\ b", "[a b]");
    assert_words("\\'\\\"\\\\", "['\"\\]");
    assert_words("\"\\\" \\\\ \\$ \\` \\n\"", "[\" \\ $ ` \\n]");
    assert_words("a\\", "[a\\]");
    assert_words("a\\\nb", "[ab]");
    assert_words("\"a\\\nb\"", "[ab]");
}

TEST(dollar_quotes_decode_escapes_of_bash) {
    assert_words("$'a b'c d$'\\'e'", "[a bc][d'e]");
    assert_words("$'\\a\\b\\e\\E\\f\\n\\r\\t\\v\\\\\\'\\\"\\?'", "[\a\b\033\033\f\n\r\t\v\\'\"?]");
    assert_words("$'\\1\\12\\303\\2444'", "[\1\n\303\2444]");
    assert_words("$'\\x9\\x41g'", "[\tAg]");
    assert_words("$'\\u41\\u00e4\\u20ac\\U0001f600'", "[A\u00e4\u20ac\U0001f600]");
    assert_words("$'\\q\\x\\uz\\U00110000'", "[\\q\\x\\uz\\U00110000]");
    assert_words("$'' $$'a' \"$'b'\" \\$'c'", "[][$a][$'b'][$c]");
}

TEST(hash_at_word_start_begins_comment) {
    assert_words("# nothing 'here", "");
    assert_words("a #b c", "[a]");
    assert_words("a#b '#c' \\#d", "[a#b][#c][#d]");
    assert_words("a # b\nc", "[a][c]");
}

TEST(shell_expansions_are_kept_literally) {
    assert_words("$HOME ~ * $(x) `y` a|b & ;", "[$HOME][~][*][$(x)][`y`][a|b][&][;]");
}

TEST(unclosed_quotes_and_null_bytes_are_refused) {
    static const char *const rows[][2] = {
        {"ab 'cd", "quote ' at column 4 is not closed"},
        {"\"", "quote \" at column 1"},
        {"\"abc\\\"", "quote \" at column 1"},
        {"a $'b\\'", "quote ' at column 4 is not closed"},
        {"$'\\", "quote ' at column 2 is not closed"},
        {"a $'b\\0c'", "escape at column 6 is a null byte"},
        {"$'\\x00'", "column 3"},
        {"$'\\400'", "column 3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ss_error error = {0};
        assert_null(ss_words_split(rows[i][0], NULL, &error));
        assert_says(error.message, rows[i][1]);
        assert_int_equal(error.status, SS_ERROR_FAILED);
    }
}

TEST(line_of_single_letter_words_fits_in_its_allocation) {
    char line[2001];
    for (size_t i = 0; i < sizeof line; i++)
        line[i] = i % 2 ? ' ' : 'x';
    line[sizeof line - 1] = '\0';
    size_t count;
    char **words = ss_words_split(line, &count, NULL);
    assert_int_equal(count, 1000);
    assert_string_equal(words[999], "x");
    free(words);
}

TEST(shown_text_is_short_and_on_one_line) {
    assert_string_equal(ss_words_show("20s").text, "20s");
    assert_string_equal(ss_words_show("").text, "");
    assert_string_equal(ss_words_show("a\n\tb\x7f").text, "a  b ");
    char text[300];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    struct ss_words_shown shown = ss_words_show(text);
    assert_int_equal(strlen(shown.text), sizeof shown.text - 1);
    assert_string_equal(shown.text + strlen(shown.text) - 4, "x...");
    text[strlen(shown.text)] = '\0';
    assert_string_equal(ss_words_show(text).text + strlen(shown.text) - 4, "x...");
    text[strlen(shown.text) - 3] = '\0';
    assert_string_equal(ss_words_show(text).text, text);
}

TEST(shown_text_is_not_cut_within_utf8_characters) {
    char text[200] = "";
    for (int i = 0; i < 60; i++)
        strcat(text, "\xc3\xa4");
    struct ss_words_shown even = ss_words_show(text);
    assert_string_equal(even.text + strlen(even.text) - 5, "\xc3\xa4...");
    char shifted[201] = "a";
    strcat(shifted, text);
    struct ss_words_shown cut = ss_words_show(shifted);
    assert_string_equal(cut.text + strlen(cut.text) - 5, "\xc3\xa4...");
}

static void assert_quoted(const char *word, const char *expected) {
    ss_words_quote(text_begin(), word);
    char *text = text_end();
    assert_string_equal(text, expected);
    char **words = ss_words_split(text, NULL, NULL);
    assert_string_equal(words[0], word);
    assert_null(words[1]);
    free(words);
}

TEST(quoted_words_are_read_back) {
    assert_quoted("-scratch=scratch.%", "-scratch=scratch.%");
    assert_quoted("/usr/bin/x-1_2,a:b@c+", "/usr/bin/x-1_2,a:b@c+");
    assert_quoted("", "''");
    assert_quoted("a b", "'a b'");
    assert_quoted("it's", "'it'\\''s'");
    assert_quoted("'", "''\\'''");
    assert_quoted("$HOME", "'$HOME'");
    assert_quoted("a=b", "'a=b'");
    assert_quoted("#", "'#'");
    assert_quoted("\\n\n", "$'\\\\n\\012'");
    assert_quoted("a\n'\\7\x7f\xc3\xa4", "$'a\\012\\'\\\\7\\177\xc3\xa4'");
    assert_quoted("\t1", "$'\\0111'");
}

TEST(commas_separate_list_items) {
    struct ss_error error = {0};
    size_t count;
    char **items = ss_words_split_list("a\\,b,,c\\\\,\\d", &count, &error);
    assert_non_null(items);
    assert_int_equal(count, 4);
    assert_string_equal(items[0], "a,b");
    assert_string_equal(items[1], "");
    assert_string_equal(items[2], "c\\");
    assert_string_equal(items[3], "\\d");
    assert_null(items[4]);
    free(items);
}

TEST(parts_of_a_list_are_read_one_by_one) {
    static const char *const expected[] = {"ab", "", "c", ""};
    struct ss_words_part part;
    const char *at = "ab::c:";
    size_t count = 0;
    for (; ss_words_next(&at, ':', &part); count++) {
        assert_in_range(count, 0, 3);
        assert_true(ss_words_is(&part, expected[count]));
    }
    assert_int_equal(count, 4);
    at = "";
    assert_true(ss_words_next(&at, ':', &part));
    assert_int_equal(part.length, 0);
    assert_false(ss_words_next(&at, ':', &part));
}

TEST(only_whole_list_items_match) {
    struct ss_words_part part = {"cpuacct,cpu", 7};
    assert_true(ss_words_is(&part, "cpuacct"));
    assert_false(ss_words_is(&part, "cpu"));
    assert_false(ss_words_is(&part, "cpuacct,"));
    assert_false(ss_words_is(&part, "cpuset"));
    assert_true(ss_words_has("cpuset,cpuacct,cpu", ',', "cpu"));
    assert_false(ss_words_has("cpuset,cpuacct", ',', "cpu"));
    assert_true(ss_words_has("", ',', ""));
    assert_false(ss_words_has("cpu", ',', ""));
}

UNIT_RUN
