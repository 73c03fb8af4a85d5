/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pattern.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

#define COPIES_MAX 65536 /* limit on the product of all counts; needs a few MiB */

/* An escape sequence with a text that it must match and one that it must not match. */
struct escape {
    char letter;
    const char *pattern, *match, *other;
    const char *instead; /* the POSIX equivalent */
};

static const struct escape escapes[] = {
    {'d', "^\\d$", "7", "d", "[0-9]"},
    {'D', "^\\D$", "x", "7", "[^0-9]"},
    {'w', "^\\w$", "a", "-", "[[:alnum:]_]"},
    {'W', "^\\W$", "-", "a", "[^[:alnum:]_]"},
    {'s', "^\\s$", " ", "s", "[[:space:]]"},
    {'S', "^\\S$", "x", " ", "[^[:space:]]"},
    {'b', "x\\b", "x y", "xb", "(^|[^[:alnum:]_])"},
    {'t', "^\\t$", "\t", "t", "a literal tab"},
};

static bool matches(const regex_t *compiled, const char *text) {
    return regexec(compiled, text, 0, NULL, 0) == 0;
}

static bool is_known_here(const struct escape *escape) {
    regex_t compiled;
    if (regcomp(&compiled, escape->pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    bool known = matches(&compiled, escape->match) && !matches(&compiled, escape->other);
    regfree(&compiled);
    return known;
}

static int check_escape(char letter, struct ss_error *error) {
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        const struct escape *escape = &escapes[i];
        if (escape->letter == letter && !is_known_here(escape))
            return ss_error_fail(error, "\\%c is not a POSIX extended regular expression: use %s",
                letter, escape->instead);
    }
    return 0;
}

/* Skips a bracket expression, in which no character is special for this check. */
static const char *skip_brackets(const char *at) {
    at += at[1] == '^' ? 2 : 1;
    at += *at == ']';
    while (*at && *at != ']') {
        if (*at == '[' && at[1] && strchr(":.=", at[1])) {
            const char end[] = {at[1], ']', '\0'};
            const char *close = strstr(at + 2, end);
            at = close ? close + 2 : at + 1;
        } else {
            at++;
        }
    }
    return *at ? at + 1 : at;
}

/*
 * Returns the length of the repetition that begins here, or 0. Sets `max` to the largest count in
 * it, or 1 if it has none.
 */
static size_t repetition_at(const char *at, double *max) {
    *max = 1;
    if (*at && strchr("*+?", *at))
        return 1;
    if (*at != '{' || !isdigit((unsigned char)at[1 + (at[1] == ',')]))
        return 0;

    char *end;
    *max = (double)strtoul(at + 1, &end, 10);
    if (*end == ',' && isdigit((unsigned char)end[1]))
        *max = (double)strtoul(end + 1, &end, 10);
    else if (*end == ',')
        end++;

    return *end == '}' ? (size_t)(end + 1 - at) : 0;
}

/*
 * Refuses a repetition of a repetition, which POSIX leaves undefined: some libraries then need
 * memory that grows exponentially with its depth. The same holds for nested counts; the check
 * multiplies all counts, because it does not follow the nesting.
 */
static int check_repetition(const char *at, double *copies, struct ss_error *error) {
    double max, unused;
    size_t length = repetition_at(at, &max);
    if (length > 0 && repetition_at(at + length, &unused) > 0)
        return ss_error_fail(error,
            "%.*s repeats a repetition, which POSIX regular expressions leave undefined: put the "
            "first one in parentheses",
            (int)(length + 1 < 40 ? length + 1 : 40), at);

    *copies *= max > 1 ? max : 1;
    if (*copies > COPIES_MAX)
        return ss_error_fail(error,
            "too many repetitions: the counts multiply to more than %d; use smaller ones",
            COPIES_MAX);
    return 0;
}

static int check_at(const char *at, struct ss_error *error) {
    if (*at == '\\')
        return check_escape(at[1], error);
    if (at[0] == '(' && at[1] == '?')
        return ss_error_fail(error,
            "(? is not a POSIX extended regular expression: use ( alone, which also captures");
    if (strchr("*+?", *at) && at[1] == '?')
        return ss_error_fail(error,
            "%.2s: POSIX extended regular expressions have no lazy repetition: use a class "
            "such as [^ ]* instead",
            at);
    return 0;
}

int ss_pattern_check(const char *pattern, struct ss_error *error) {
    double copies = 1;
    for (const char *at = pattern; *at;) {
        if (check_at(at, error) < 0 || check_repetition(at, &copies, error) < 0)
            return ss_error_wrap(error, "'%s'", ss_words_show(pattern).text);

        if (*at == '[')
            at = skip_brackets(at);
        else
            at += *at == '\\' && at[1] ? 2 : 1;
    }
    return 0;
}

int ss_pattern_compile(regex_t *compiled, const char *pattern, struct ss_error *error) {
    char why[128];
    if (ss_pattern_check(pattern, error) < 0)
        return -1;
    int status = regcomp(compiled, pattern, REG_EXTENDED);
    if (status == 0)
        return 0;
    regerror(status, compiled, why, sizeof why);
    return ss_error_fail(error, "'%s': %s", ss_words_show(pattern).text, why);
}
