/* SPDX-License-Identifier: Apache-2.0 */

/* Tests the signals of the master after its loop. */

#include <signal.h>

#include "keeper/signals.h"
#include "unit.h"

static struct ss_signals signals;

static void open_signals(void) {
    assert_int_equal(ss_signals_open(&signals), 0);
}

static void (*handler_of(int number))(int) {
    struct sigaction action;
    assert_int_equal(sigaction(number, NULL, &action), 0);
    return action.sa_handler;
}

TEST(pending_end_signal_is_returned) {
    open_signals();
    raise(SIGCHLD);
    raise(SIGCONT);
    raise(SIGTSTP);
    raise(SIGWINCH);
    assert_int_equal(ss_signals_close(&signals), 0);
    open_signals();
    raise(SIGCHLD);
    raise(SIGTERM);
    raise(SIGINT);
    assert_int_equal(ss_signals_close(&signals), SIGTERM);
}

TEST(signals_that_were_read_are_not_returned) {
    open_signals();
    raise(SIGTERM);
    assert_int_equal(ss_signals_next(&signals), SIGTERM);
    assert_int_equal(ss_signals_close(&signals), 0);
}

TEST(dispositions_of_the_caller_are_restored) {
    static const int restored[] = {SIGINT, SIGTERM, SIGQUIT, SIGTSTP, SIGCHLD};
    signal(SIGHUP, SIG_IGN); /* as nohup does */
    for (size_t i = 0; i < sizeof restored / sizeof *restored; i++)
        signal(restored[i], SIG_DFL);
    open_signals();
    for (size_t i = 0; i < sizeof restored / sizeof *restored; i++)
        assert_ptr_not_equal(handler_of(restored[i]), SIG_DFL);
    assert_int_equal(ss_signals_close(&signals), 0);
    for (size_t i = 0; i < sizeof restored / sizeof *restored; i++)
        assert_ptr_equal(handler_of(restored[i]), SIG_DFL);
    assert_ptr_equal(handler_of(SIGHUP), SIG_IGN);
    /* Output to a closed pipe is still reported. */
    assert_ptr_equal(handler_of(SIGPIPE), SIG_IGN);
    signal(SIGHUP, SIG_DFL);
}

TEST(signals_that_were_not_opened_stay_unchanged) {
    static struct ss_signals never;
    signal(SIGTERM, SIG_IGN);
    assert_int_equal(ss_signals_close(&never), 0);
    assert_ptr_equal(handler_of(SIGTERM), SIG_IGN);
    signal(SIGTERM, SIG_DFL);
}

UNIT_RUN
