/* SPDX-License-Identifier: Apache-2.0 */
#include "base/end_signals.h"

#include "unit.h"

static void ignored_sighup_does_not_end_the_program(void **state) {
    (void)state;
    sigset_t set;
    signal(SIGHUP, SIG_IGN);
    ss_end_signals(&set);
    assert_false(sigismember(&set, SIGHUP));
    signal(SIGHUP, SIG_DFL);
    ss_end_signals(&set);
    assert_true(sigismember(&set, SIGHUP));
    assert_true(sigismember(&set, SIGTERM));
    assert_false(sigismember(&set, SIGQUIT));
}

static void sigint_is_handled_even_if_ignored_before(void **state) {
    (void)state;
    sigset_t set;
    signal(SIGINT, SIG_IGN);
    ss_end_signals(&set);
    assert_true(sigismember(&set, SIGINT));
    signal(SIGINT, SIG_DFL);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(ignored_sighup_does_not_end_the_program),
    cmocka_unit_test(sigint_is_handled_even_if_ignored_before))
