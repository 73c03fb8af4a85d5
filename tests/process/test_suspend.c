/* SPDX-License-Identifier: Apache-2.0 */

/* A process that handles SIGTSTP late obeys the last of SIGTSTP and SIGCONT. */

#include "kin.h"
#include "process.h"

#include "keeper/signals.h"

/*
 * Sends itself the signals in `sent`, which a 0 ends, takes the first one and suspends itself.
 * Exits with the first signal that still waits, except SIGCONT.
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

static void expect(size_t row, bool stops, int waiting, const int *sent) {
    int status;
    pid_t parent = getpid();
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        kin_begin(parent);
        receive(sent);
    }
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    ck_assert_msg(WIFSTOPPED(status) == stops, "row %zu: status %#x", row, (unsigned)status);
    if (stops) {
        kill(child, SIGCONT);
        ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    }
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == waiting, "row %zu: status %#x", row,
        (unsigned)status);
}

/* Each row: whether it stops, the signal that still waits, and the signals sent. */
TEST_CASE(the_last_of_sigtstp_and_sigcont_counts) {
    static const struct {
        bool stops;
        int waiting, sent[5];
    } rows[] = {
        {true, 0, {SIGTSTP}},
        {true, 0, {SIGTSTP, SIGTSTP, SIGTSTP}},
        {true, 0, {SIGTSTP, SIGCONT, SIGTSTP}},
        {false, 0, {SIGTSTP, SIGCONT}},
        {false, 0, {SIGTSTP, SIGTSTP, SIGCONT}},
        {false, SIGINT, {SIGTSTP, SIGINT, SIGCONT, SIGTERM}},
        {true, SIGTERM, {SIGTSTP, SIGTERM, SIGINT, SIGTSTP}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(i, rows[i].stops, rows[i].waiting, rows[i].sent);
}
