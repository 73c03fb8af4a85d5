/* SPDX-License-Identifier: Apache-2.0 */

#include "base/suggest.h"
#include "unit.h"

static const char *const names[] = {"averageq", "fixedq", "even", "uneven", "realtime", "constant",
    "staircase", "sine", "null", "tau"};

static const struct ss_suggest_names known = {"name", SS_SUGGEST_ROWS(names), NULL};

TEST(closest_name_is_suggested) {
    static const char *const rows[][2] = {
        /* One typing error. */
        {"averagq", "averageq"},
        {"averageqq", "averageq"},
        {"averabeq", "averageq"},
        {"avergaeq", "averageq"},
        {"evne", "even"},
        {"tao", "tau"},
        /* Two names are close. */
        {"even", "even"},
        {"uneve", "uneven"},
        {"neven", "even"},
        {"RealTime", "realtime"},
        /* The beginning of a name. */
        {"stair", "staircase"},
        {"const", "constant"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(ss_suggest(&known, rows[i][0]), rows[i][1]);
}

TEST(distant_words_get_no_suggestion) {
    static const char *const words[] = {"banana", "x", "st", ""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_null(ss_suggest(&known, words[i]));
    assert_null(ss_suggest(&(struct ss_suggest_names){"name", names, 0, 0, NULL}, "even"));
    char text[1000];
    memset(text, 'e', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_null(ss_suggest(&known, text));
    const char *const lengthy[] = {text};
    const struct ss_suggest_names one = {"name", SS_SUGGEST_ROWS(lengthy), NULL};
    assert_null(ss_suggest(&one, "eeee"));
}

TEST(rows_are_found_by_name) {
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
