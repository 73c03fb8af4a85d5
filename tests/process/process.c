/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

/* Number of skipped cases; in shared memory, because each case runs in its own process. */
static atomic_uint *skips;

_Noreturn void process_skip(const char *reason) {
    fprintf(stderr, "skipped: %s\n", reason);
    atomic_fetch_add(skips, 1);
    exit(EXIT_SUCCESS); /* Check would count any other status as an error */
}

static Suite *make_suite(const char *name, const struct process_case *cases, size_t count) {
    Suite *suite = suite_create(name);
    for (size_t i = 0; i < count; i++) {
        TCase *tcase = tcase_create(cases[i].name);
        tcase_set_timeout(tcase, PROCESS_TIMEOUT);
        tcase_add_test(tcase, cases[i].test);
        suite_add_tcase(suite, tcase);
    }
    return suite;
}

int process_main(int argc, char **argv, const struct process_case *cases, size_t count) {
    skips = mmap(NULL, sizeof *skips, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (skips == MAP_FAILED)
        return EXIT_FAILURE;
    SRunner *runner = srunner_create(make_suite(argv[0], cases, count));
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
