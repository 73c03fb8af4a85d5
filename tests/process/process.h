/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PROCESS_H
#define SHOWSTOPPER_TESTS_PROCESS_H

#include <stddef.h>
#include <stdlib.h>

#include <check.h>

/*
 * Defines a test case, which ctest runs by its name, in its own process:
 *
 *   TEST_CASE(name) { ... }
 *
 * When it ends, programs that it started are killed if they still run, and it fails if any of their
 * descendants remain; see run_finish().
 */
#define TEST_CASE(function)                                                                        \
    static void function(int);                                                                     \
    __attribute__((constructor)) static void add_##function(void) {                                \
        static const TTest test = {#function, function, __FILE__, __LINE__};                       \
        process_add(&test);                                                                        \
    }                                                                                              \
    static void function(int repetition __attribute__((unused)))

void process_add(const TTest *test);

#define PROCESS_TIMEOUT 280 /* seconds for one case; ctest allows 300 */
#define PROCESS_SKIPPED 77  /* the exit status that ctest counts as a skip */

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
