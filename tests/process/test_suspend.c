/* SPDX-License-Identifier: Apache-2.0 */

/* A process that handles SIGTSTP late obeys the last of SIGTSTP and SIGCONT. */

#include "kin.h"
#include "process.h"

#include "keeper/signals.h"

/*
 * Receives the signals, which end with 0, then takes the first one and suspends itself. Exits with
 * the first signal that still waits, except SIGCONT.
 */
_Noreturn static void receive(const int *sent) {
    static struct ss_signals signals;
    int number;
    setpgid(0, 0); /* in a group that is not orphaned */
    if (ss_signals_open(&signals) < 0)
        _exit(98);
    for (; *sent; sent++)
        raise(*sent);
    if (ss_signals_next(&signals) != SIGTSTP)
        _exit(97);
    ss_signals_suspend(&signals);
    do
        number = ss_signals_next(&signals);
    while (number == SIGCONT);
    _exit(number);
}

static void expect(bool stops, int waiting, const int *sent) {
    int status;
    pid_t parent = getpid();
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        kin_begin(parent);
        receive(sent);
    }
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    ck_assert_int_eq(WIFSTOPPED(status), stops);
    if (stops) {
        kill(child, SIGCONT);
        ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    }
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), waiting);
}

#define EXPECT_STOP(waiting, ...)    expect(true, waiting, (const int[]){__VA_ARGS__, 0})
#define EXPECT_NO_STOP(waiting, ...) expect(false, waiting, (const int[]){__VA_ARGS__, 0})

TEST_CASE(sigtstp_stops_once) {
    EXPECT_STOP(0, SIGTSTP);
    EXPECT_STOP(0, SIGTSTP, SIGTSTP, SIGTSTP);
    EXPECT_STOP(0, SIGTSTP, SIGCONT, SIGTSTP);
}

TEST_CASE(sigcont_that_arrives_first_prevents_the_stop) {
    EXPECT_NO_STOP(0, SIGTSTP, SIGCONT);
    EXPECT_NO_STOP(0, SIGTSTP, SIGTSTP, SIGCONT);
}

TEST_CASE(other_signals_still_wait) {
    EXPECT_NO_STOP(SIGINT, SIGTSTP, SIGINT, SIGCONT, SIGTERM);
    EXPECT_STOP(SIGTERM, SIGTSTP, SIGTERM, SIGINT, SIGTSTP);
}
