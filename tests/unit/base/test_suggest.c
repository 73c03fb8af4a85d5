/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/suggest.h"
#include "unit.h"

static const char *const names[] = {"averageq", "fixedq", "even", "uneven", "realtime", "constant",
    "staircase", "sine", "null", "tau"};

static const struct ss_suggest_names known = {"name", SS_SUGGEST_ROWS(names), NULL};

static const char *nearest(const char *word) {
    return ss_suggest(&known, word);
}

TEST(word_with_one_wrong_letter_is_suggested) {
    assert_string_equal(nearest("averagq"), "averageq");
    assert_string_equal(nearest("averageqq"), "averageq");
    assert_string_equal(nearest("averabeq"), "averageq");
    assert_string_equal(nearest("avergaeq"), "averageq");
    assert_string_equal(nearest("evne"), "even");
    assert_string_equal(nearest("tao"), "tau");
}

TEST(closest_name_is_suggested) {
    assert_string_equal(nearest("even"), "even");
    assert_string_equal(nearest("uneve"), "uneven");
    assert_string_equal(nearest("neven"), "even");
}

TEST(case_is_ignored_in_suggestions) {
    assert_string_equal(nearest("RealTime"), "realtime");
}

TEST(name_that_begins_with_the_word_is_suggested) {
    assert_string_equal(nearest("stair"), "staircase");
    assert_string_equal(nearest("const"), "constant");
    assert_null(nearest("st"));
}

TEST(distant_words_get_no_suggestion) {
    assert_null(nearest("banana"));
    assert_null(nearest("x"));
    assert_null(nearest(""));
    assert_null(ss_suggest(&(struct ss_suggest_names){"name", names, 0, 0, NULL}, "even"));
    char text[1000];
    memset(text, 'e', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_null(nearest(text));
    const char *const lengthy[] = {text};
    const struct ss_suggest_names one = {"name", SS_SUGGEST_ROWS(lengthy), NULL};
    assert_null(ss_suggest(&one, "eeee"));
}

TEST(row_is_found_by_the_name_that_it_begins_with) {
    static const struct {
        const char *name;
        char filler;
    } rows[] = {{"first", 1}, {"second", 2}};
    const struct ss_suggest_names table = {"row", SS_SUGGEST_ROWS(rows), NULL};
    struct ss_error error = {0};
    assert_int_equal(ss_suggest_find(&table, "second", &error), 1);
    assert_int_equal(error.status, 0);
    assert_fails(ss_suggest_find(&table, "secon", &error), error, "did you mean 'second'?");
}

UNIT_RUN
