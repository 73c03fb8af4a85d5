/* SPDX-License-Identifier: Apache-2.0 */
#include <regex.h>
#include <stdbool.h>

#include "base/pattern.h"
#include "unit.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_refused(const char *pattern, const char *part) {
    struct ss_error error = {0};
    assert_fails(ss_pattern_check(pattern, &error), error, part);
}

static bool matches(const char *pattern, const char *text) {
    regex_t compiled;
    if (regcomp(&compiled, pattern, REG_EXTENDED) != 0)
        return false;
    bool does = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return does;
}

/* musl gives \d and \D their usual meanings. */
static bool knows_digits(void) {
    return matches("^\\d$", "7") && !matches("^\\d$", "d");
}

TEST(digits_are_refused_unless_the_library_knows_them) {
    if (knows_digits()) {
        assert_int_equal(ss_pattern_check("(\\d+)", NULL), 0);
        assert_int_equal(ss_pattern_check("took \\D", NULL), 0);
        return;
    }
    assert_refused("(\\d+)", "'(\\d+)': \\d is not a POSIX extended regular expression: use [0-9]");
    assert_refused("took \\D", "use [^0-9]");
    assert_refused("[]]\\d", "\\d is no");
    assert_refused("\\\\\\d", "\\d is no");
}

TEST(non_posix_regex_syntax_is_refused) {
    assert_refused("(?:a|b)", "(? is not a POSIX extended regular expression: use ( alone");
    assert_refused("(?i)a", "(? is no");
    assert_refused("a+?", "+?: POSIX extended regular expressions have no lazy repetition");
    assert_refused(".*?x", "*?: POSIX");
    assert_refused("a??", "??: POSIX");
}

/* regcomp() needs gigabytes of memory for these patterns. */
TEST(nested_repetitions_in_patterns_are_refused) {
    assert_refused(
        "a per ++++++++++++++++++++++++++++++++++++++++++++ second", "++ repeats a repetition");
    assert_refused("a*+", "*+ repeats a repetition");
    assert_refused("a{2}*", "{2}* repeats a repetition");
    assert_refused("a{2,}{3}", "{2,}{ repeats a repetition");
    assert_refused("a{,2}+", "{,2}+ repeats a repetition");
    assert_refused("a{1,3}?", "{1,3}? repeats a repetition");
    assert_refused("((a{255}){255}){2}", "the counts multiply to more than 65536");
    assert_refused("(a{1,9999}){0,9999}", "the counts multiply");
}

TEST(posix_patterns_are_accepted) {
    static const char *const patterns[] = {"", "([0-9]+) ms", "[\\d]", "[+?]", "[(?]", "\\+?",
        "\\*?", "\\\\d", "\\(?", "(a|b)?", "a{2}", "[[:digit:]]+", "[^]\\d]", "[]\\d]", "[", "\\",
        "a\\.b", "[[.].]\\d]", "(^| )x", "a{", "a{,}+", "a{,2}", "a}+", "(a+)+", "[+*]+", "\\++",
        "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{1,9}", " +[0-9.]+ +([0-9.]+)", "((a{255}){255})"};
    for (size_t i = 0; i < COUNT(patterns); i++) {
        struct ss_error error = {0};
        assert_succeeds(ss_pattern_check(patterns[i], &error), error);
    }
}

/* These patterns are accepted only if the C library gives them this meaning. */
TEST(supported_extensions_are_accepted) {
    static const struct {
        const char *pattern, *match, *other;
    } cases[] = {{"^\\w$", "a", "-"}, {"^\\s$", " ", "s"}, {"x\\b", "x y", "xb"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool works =
            matches(cases[i].pattern, cases[i].match) && !matches(cases[i].pattern, cases[i].other);
        struct ss_error error = {0};
        assert_int_equal(ss_pattern_check(cases[i].pattern, &error) == 0, works);
    }
}

UNIT_RUN
