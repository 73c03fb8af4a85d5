/* SPDX-License-Identifier: Apache-2.0 */

/* One case is skipped, one passes and one fails; tests/system/test_skips.sh checks the results. */

#include "unit.h"

static void need(int sum) {
    SKIP_UNLESS(1 + 1 == sum, "nonsense: of the fixture");
}

TEST(the_case_is_skipped) {
    need(3);
    fail_msg("it went on");
}

TEST(the_case_runs) {
    need(2);
}

TEST(the_case_fails) {
    fail_msg("it fails");
}

UNIT_RUN
