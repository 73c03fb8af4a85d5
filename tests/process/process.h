/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PROCESS_H
#define SHOWSTOPPER_TESTS_PROCESS_H

#include <stdlib.h>

#include <check.h>

/*
 * Each case is a test case of Check of its own, so that ctest can run it by name:
 *   START_TEST(name) { ... } END_TEST
 *   PROCESS_MAIN(SS_CASE(name), SS_CASE(other))
 */
#define SS_CASE(function)                                                                          \
    { #function, function }

#define PROCESS_TIMEOUT 60 /* seconds that one case may take */

#define PROCESS_MAIN(...)                                                                          \
    int main(int argc, char **argv) {                                                              \
        const struct {                                                                             \
            const char *name;                                                                      \
            const TTest *test;                                                                     \
        } cases[] = {__VA_ARGS__};                                                                 \
        Suite *suite = suite_create(argv[0]);                                                      \
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {                                \
            TCase *tcase = tcase_create(cases[i].name);                                            \
            tcase_set_timeout(tcase, PROCESS_TIMEOUT);                                             \
            tcase_add_test(tcase, cases[i].test);                                                  \
            suite_add_tcase(suite, tcase);                                                         \
        }                                                                                          \
        SRunner *runner = srunner_create(suite);                                                   \
        srunner_run(runner, NULL, argc > 1 ? argv[1] : NULL, CK_NORMAL);                           \
        int failed = srunner_ntests_failed(runner);                                                \
        int run = srunner_ntests_run(runner);                                                      \
        srunner_free(runner);                                                                      \
        return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;                               \
    }

#endif
