/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PROCESS_H
#define SHOWSTOPPER_TESTS_PROCESS_H

#include <stddef.h>
#include <stdlib.h>

#include <check.h>

/*
 * Each case is a separate test case of Check, so that ctest can run it by name:
 *
 *   START_TEST(name) { ... } END_TEST
 *   PROCESS_MAIN(SS_CASE(name), SS_CASE(other))
 */
#define SS_CASE(function)                                                                          \
    { #function, function }

#define PROCESS_TIMEOUT 280 /* seconds for one case; ctest allows 300 */
#define PROCESS_SKIPPED 77  /* the exit status that ctest counts as a skip */

struct process_case {
    const char *name;
    const TTest *test;
};

/* Runs the case named on the command line, or all cases. Returns the exit status. */
int process_main(int argc, char **argv, const struct process_case *cases, size_t count);

#define PROCESS_MAIN(...)                                                                          \
    int main(int argc, char **argv) {                                                              \
        const struct process_case cases[] = {__VA_ARGS__};                                         \
        return process_main(argc, argv, cases, sizeof cases / sizeof *cases);                      \
    }

/*
 * Skips a case that cannot run here; may be called anywhere in the case. The reason begins with the
 * missing feature, a word from tests/skips, and a colon.
 */
#define SKIP(reason) process_skip(reason)

/*
 * For loops: like ck_assert_msg(), which sends each assertion to the process that judges the test.
 * With thousands of them, that takes longer than the test.
 */
#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg(__VA_ARGS__);                                                             \
    } while (0)

#define SKIP_UNLESS(condition, reason)                                                             \
    do {                                                                                           \
        if (!(condition))                                                                          \
            process_skip(reason);                                                                  \
    } while (0)

_Noreturn void process_skip(const char *reason);

#endif
