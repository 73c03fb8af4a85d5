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

/* Fails with both values if they differ by more than `within`. cmocka compares single floats. */
#define assert_near(value, expected, within)                                                       \
    do {                                                                                           \
        double value_ = (double)(value), expected_ = (double)(expected);                           \
        if (!(fabs(value_ - expected_) <= (within)))                                               \
            fail_msg("%s is %.17g, not %.17g", #value, value_, expected_);                         \
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

/*
 * Returns the exit status of a run of cases, which is a success only if at least one of them ran.
 */
static inline int unit_status(int failed, size_t cases) {
    return failed > 0 ? failed : unit_skips >= cases ? UNIT_SKIPPED : 0;
}

/* The cases of this program. */
static struct CMUnitTest unit_cases[200];
static size_t unit_case_count;

static inline void unit_add(struct CMUnitTest added) {
    if (unit_case_count == sizeof unit_cases / sizeof *unit_cases)
        abort();
    unit_cases[unit_case_count++] = added;
}

/* Defines a case, which registers itself: TEST_CASE(full_disk_is_reported) { ... } */
#define TEST_CASE(name) TEST_CASE_WITH(name, NULL, NULL)

/* Like TEST_CASE, with a function to call before the case, and one after it; NULL: none. */
#define TEST_CASE_WITH(name, before, after)                                                        \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void unit_add_##name(void) {                               \
        unit_add((struct CMUnitTest)cmocka_unit_test_setup_teardown(name, before, after));         \
    }                                                                                              \
    static void name(__attribute__((unused)) void **state)

/* Runs the case that the command line names, or all cases: those listed here, and TEST_CASEs. */
#define UNIT_MAIN(...)                                                                             \
    int main(int argc, char **argv) {                                                              \
        const struct CMUnitTest listed[] = {{0}, __VA_ARGS__};                                     \
        for (size_t i = 1; i < sizeof listed / sizeof *listed; i++)                                \
            unit_add(listed[i]);                                                                   \
        if (argc > 1)                                                                              \
            cmocka_set_test_filter(argv[1]);                                                       \
        return unit_status(                                                                        \
            _cmocka_run_group_tests("tests", unit_cases, unit_case_count, NULL, NULL),             \
            argc > 1 ? 1 : unit_case_count);                                                       \
    }

/* Replaces UNIT_MAIN if this build lacks the tested feature. */
#define UNIT_MAIN_SKIPPED(reason)                                                                  \
    int main(void) {                                                                               \
        unit_skips++;                                                                              \
        fprintf(stderr, "skipped: %s\n", reason);                                                  \
        return unit_status(0, 1);                                                                  \
    }

#endif
