/* SPDX-License-Identifier: Apache-2.0 */

/* Cases that are skipped, pass and fail, for tests/system/test_skips.sh. */

#include <sys/wait.h>
#include <unistd.h>

#include "process.h"

TEST_CASE(the_case_is_skipped) {
    SKIP_UNLESS(1 + 1 == 3, "nonsense: of the fixture");
    ck_abort_msg("continued");
}

TEST_CASE(the_case_runs) {
    SKIP_UNLESS(1 + 1 == 2, "nonsense: of the fixture");
}

TEST_CASE(the_case_is_skipped_by_its_child) {
    pid_t child = fork();
    if (child == 0)
        SKIP("nonsense: found by a child");
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

TEST_CASE(the_case_fails) {
    pid_t child = fork();
    if (child == 0)
        SKIP("nonsense: found by a child");
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_abort_msg("it fails all the same");
}
