/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_UNIT_H
#define SHOWSTOPPER_TESTS_UNIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UNIT_SKIPPED 77 /* ctest counts this exit status as a skip */

/* Number of cases that could not run here. */
static unsigned unit_skips;

/*
 * Ends a case that cannot run here. The reason starts with the missing feature, a word of
 * tests/skips, and a colon.
 */
#define SKIP(reason)                                                                               \
    do {                                                                                           \
        fprintf(stderr, "skipped: %s\n", reason);                                                  \
        unit_skips++;                                                                              \
        skip();                                                                                    \
    } while (0)

#define SKIP_UNLESS(condition, reason)                                                             \
    do {                                                                                           \
        if (!(condition))                                                                          \
            SKIP(reason);                                                                          \
    } while (0)

/* Fails with both values unless the relation holds: assert_that(length, <=, 80). */
#define assert_that(left, relation, right)                                                         \
    do {                                                                                           \
        if (!((left)relation(right)))                                                              \
            fail_msg("%s %s %s: %.17Lg and %.17Lg", #left, #relation, #right, (long double)(left), \
                (long double)(right));                                                             \
    } while (0)

/* Fails with both values if they differ by more than `within`. cmocka compares floats only. */
#define assert_near(value, expected, within)                                                       \
    do {                                                                                           \
        double value_ = (double)(value), expected_ = (double)(expected);                           \
        if (!(fabs(value_ - expected_) <= (within)))                                               \
            fail_msg("%s is %.17g, not %.17g", #value, value_, expected_);                         \
    } while (0)

/* Fails with the message unless it contains the text. */
#define assert_says(message, text)                                                                 \
    do {                                                                                           \
        if (!strstr(message, text))                                                                \
            fail_msg("'%s' is not in: %s", text, message);                                         \
    } while (0)

/* Fails with the message if the call fails. */
#define assert_succeeds(call, error)                                                               \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            fail_msg("%s: %s", #call, (error).message);                                            \
    } while (0)

/* Fails unless the call fails, with one line that contains the text. */
#define assert_fails(call, error, text)                                                            \
    do {                                                                                           \
        if ((call) >= 0)                                                                           \
            fail_msg("%s succeeds, without '%s'", #call, text);                                    \
        assert_says((error).message, text);                                                        \
        assert_null(strpbrk((error).message, "\r\n"));                                             \
        assert_int_equal((error).status, SS_ERROR_FAILED);                                         \
    } while (0)

/* Fails with the line if a line is longer than `width` characters. */
static inline void assert_fits(const char *text, size_t width) {
    for (const char *line = text; *line; line += line[0] == '\n') {
        size_t length = strcspn(line, "\n");
        if (length > width)
            fail_msg("%zu characters, more than %zu: '%.*s'", length, width, (int)length, line);
        line += length;
    }
}

/* Returns the exit status: how many cases failed; if none ran, UNIT_SKIPPED. */
static inline int unit_status(int failed, size_t cases) {
    return failed > 0 ? failed : unit_skips >= cases ? UNIT_SKIPPED : 0;
}

/* The cases of this program, in the order of the file. */
static struct CMUnitTest unit_cases[128];
static size_t unit_case_count;

static inline void unit_add(struct CMUnitTest test) {
    if (unit_case_count == sizeof unit_cases / sizeof *unit_cases)
        abort();
    unit_cases[unit_case_count++] = test;
}

/* Defines a case, which adds itself to the list: TEST(full_disk_is_reported) { ... } */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Like TEST, with functions that are called before and after the case. */
#define TEST_WITH(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void) {                                    \
        unit_add((struct CMUnitTest){#name, name, set_up, tear_down, NULL});                       \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))

/* Runs the case that the command line names, or all cases. */
#define UNIT_RUN                                                                                   \
    int main(int argc, char **argv) {                                                              \
        if (argc > 1)                                                                              \
            cmocka_set_test_filter(argv[1]);                                                       \
        int failed = _cmocka_run_group_tests(*argv, unit_cases, unit_case_count, NULL, NULL);      \
        return unit_status(failed, argc > 1 ? 1 : unit_case_count);                                \
    }

#endif
