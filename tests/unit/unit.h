/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_UNIT_H
#define SHOWSTOPPER_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define UNIT_SKIPPED 77 /* the exit status that ctest takes for a skip */

/* How many cases could not run here. */
static unsigned unit_skips;

/*
 * Ends a case that cannot run here. The reason begins with what is missing, a word of tests/skips
 * and a colon.
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

/* The exit status of so many cases: no success where none of them ran. */
static inline int unit_status(int failed, size_t cases) {
    return failed > 0 ? failed : unit_skips >= cases ? UNIT_SKIPPED : 0;
}

/* Runs the one case that the command line names, or all. */
#define UNIT_MAIN(...)                                                                             \
    int main(int argc, char **argv) {                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        if (argc > 1)                                                                              \
            cmocka_set_test_filter(argv[1]);                                                       \
        return unit_status(cmocka_run_group_tests(tests, NULL, NULL),                              \
            argc > 1 ? 1 : sizeof tests / sizeof *tests);                                          \
    }

/* In the place of UNIT_MAIN where this build lacks what is tested. */
#define UNIT_MAIN_SKIPPED(reason)                                                                  \
    int main(void) {                                                                               \
        unit_skips++;                                                                              \
        fprintf(stderr, "skipped: %s\n", reason);                                                  \
        return unit_status(0, 1);                                                                  \
    }

#endif
