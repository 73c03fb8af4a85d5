/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

#include "run.h"

static const TTest *tests[64];
static size_t test_count;

/* Number of skipped cases; in shared memory, because each case runs in its own process. */
static atomic_uint *skips;

void process_add(const TTest *test) {
    if (test_count == sizeof tests / sizeof *tests)
        abort();
    tests[test_count++] = test;
}

_Noreturn void process_skip(const char *reason) {
    fprintf(stderr, "skipped: %s\n", reason);
    atomic_fetch_add(skips, 1);
    exit(EXIT_SUCCESS); /* Check would count any other status as an error */
}

static Suite *make_suite(const char *name) {
    Suite *suite = suite_create(name);
    for (size_t i = 0; i < test_count; i++) {
        TCase *tcase = tcase_create(tests[i]->name);
        tcase_set_timeout(tcase, PROCESS_TIMEOUT);
        tcase_add_checked_fixture(tcase, NULL, run_finish);
        tcase_add_test(tcase, tests[i]);
        suite_add_tcase(suite, tcase);
    }
    return suite;
}

int main(int argc, char **argv) {
    skips = mmap(NULL, sizeof *skips, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (skips == MAP_FAILED)
        return EXIT_FAILURE;
    SRunner *runner = srunner_create(make_suite(argv[0]));
    srunner_set_fork_status(runner, CK_FORK);
    check_set_max_msg_size(1 << 20); /* failures show what a run has printed */
    srunner_run(runner, NULL, argc > 1 ? argv[1] : NULL, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int run = srunner_ntests_run(runner);
    srunner_free(runner);
    if (failed > 0 || run == 0)
        return EXIT_FAILURE;
    return atomic_load(skips) >= (unsigned)run ? PROCESS_SKIPPED : EXIT_SUCCESS;
}
