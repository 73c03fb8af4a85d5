/* SPDX-License-Identifier: Apache-2.0 */
#include "base/end_signals.h"

#include "unit.h"

TEST(ignored_sighup_does_not_end_the_program) {
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

TEST(sigint_is_handled_even_if_ignored_before) {
    sigset_t set;
    signal(SIGINT, SIG_IGN);
    ss_end_signals(&set);
    assert_true(sigismember(&set, SIGINT));
    signal(SIGINT, SIG_DFL);
}

UNIT_RUN
