/* SPDX-License-Identifier: Apache-2.0 */

/* Cases that are skipped; tests/system/test_skips.sh checks the results. */

#include "unit.h"

static void need(int sum) {
    SKIP_UNLESS(1 + 1 == sum, "nonsense: of the fixture");
}

static void the_case_is_skipped(void **state) {
    (void)state;
    need(3);
    fail_msg("it went on");
}

static void the_case_runs(void **state) {
    (void)state;
    need(2);
}

static void the_case_fails(void **state) {
    (void)state;
    fail_msg("it fails");
}

/* clang-format off */
UNIT_MAIN(
    cmocka_unit_test(the_case_is_skipped),
    cmocka_unit_test(the_case_runs),
    cmocka_unit_test(the_case_fails))
/* clang-format on */
