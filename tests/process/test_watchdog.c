/* SPDX-License-Identifier: Apache-2.0 */

/* A stuck process is detected by the CPU time it uses, not by elapsed time. */

#include "kin.h"
#include "process.h"

#include <sys/resource.h>

#include "platform/platform.h"
#include "tree/watchdog.h"

static struct ss_board *board;
static struct ss_watchdog watchdog;

/* Advances at the test's own pace, which must not matter. */
static ss_time now = 1000 * SS_SECOND;

/* At a high priority, if that is allowed: it needs CPU time to be detected. */
static void spin(void) {
    setpriority(PRIO_PROCESS, 0, -20);
    close(kin_gate[1]);
    for (volatile unsigned turns = 0;; turns++) {
    }
}

static void open_board(pid_t master) {
    board = ss_board_allocate(3, 0);
    ck_assert_ptr_nonnull(board);
    ck_assert_int_eq(ss_watchdog_open(&watchdog, board, master), 0);
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    atomic_store(&board->beat, 1);
}

static void put_executor(uint32_t number, pid_t pid) {
    struct ss_row *row = &board->rows[number];
    atomic_store(&row->executor_started, ss_platform_process_started(pid));
    atomic_store(&row->executor, pid);
    atomic_store(&row->life, SS_LIFE_ALIVE);
    atomic_store(&row->beat, 5);
}

static bool look(void) {
    now += 500 * SS_MILLISECOND;
    ss_watchdog_look(&watchdog, now);
    return true;
}

static bool has_ended(pid_t pid) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == pid;
}

/* Checks until a process has used this much more CPU time. */
static void look_for(pid_t pid, double seconds) {
    ss_time end = ss_platform_process_cpu_time(pid) + (ss_time)(seconds * 1e9);
    RUN_UNTIL(NULL, look() && ss_platform_process_cpu_time(pid) >= end);
}

static void expect_end(pid_t pid, int signal) {
    int status;
    RUN_UNTIL(NULL, look() && has_ended(pid));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), signal);
}

/* Starts it on a new board, as executor 0. */
static pid_t start_spinner(void) {
    open_board(getpid());
    pid_t spinner = kin_start(spin);
    put_executor(0, spinner);
    return spinner;
}

START_TEST(an_executor_that_never_sleeps_is_killed) {
    open_board(getpid());
    pid_t sleeper = kin_start(NULL);
    pid_t spinner = kin_start(spin);
    put_executor(0, sleeper);
    put_executor(2, spinner);
    expect_end(spinner, SIGKILL);
    ck_assert_uint_eq(board->rows[2].failure, SS_FAILURE_STUCK);
    atomic_store(&board->rows[2].life, SS_LIFE_CLEARED);
    /* An hour without a beat proves nothing. */
    for (int i = 0; i < 7200; i++)
        look();
    ck_assert(!has_ended(sleeper));
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_NONE);
    ck_assert_uint_eq(board->rows[1].failure, SS_FAILURE_NONE);
    kin_end(sleeper);
}
END_TEST

START_TEST(an_executor_that_updates_its_beat_is_not_stuck) {
    pid_t spinner = start_spinner();
    for (int i = 0; i < 20; i++) {
        atomic_fetch_add(&board->rows[0].beat, 1);
        look_for(spinner, 0.1);
    }
    ck_assert(!has_ended(spinner));
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_NONE);
    expect_end(spinner, SIGKILL);
}
END_TEST

/* CPU time used before the first beat must not count. */
START_TEST(an_executor_without_a_first_beat_is_not_stuck) {
    pid_t spinner = start_spinner();
    atomic_store(&board->rows[0].beat, 0);
    look_for(spinner, 1.5);
    ck_assert(!has_ended(spinner));
    atomic_store(&board->rows[0].beat, 5);
    look();
    look();
    ck_assert(!has_ended(spinner));
    atomic_store(&board->rows[0].life, SS_LIFE_ENDED);
    look_for(spinner, 1.5);
    ck_assert(!has_ended(spinner));
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_NONE);
    atomic_store(&board->rows[0].life, SS_LIFE_ALIVE);
    expect_end(spinner, SIGKILL);
}
END_TEST

/* The pid has been reused. */
START_TEST(a_process_with_a_reused_pid_is_not_ended) {
    pid_t spinner = start_spinner();
    atomic_fetch_add(&board->rows[0].executor_started, 1);
    look_for(spinner, 2.5);
    ck_assert(!has_ended(spinner));
    kin_end(spinner);
}
END_TEST

START_TEST(the_watchdog_checks_twice_a_second) {
    pid_t spinner = start_spinner();
    look();
    look(); /* suspects it */
    ss_time end = ss_platform_process_cpu_time(spinner) + 1500 * SS_MILLISECOND;
    RUN_UNTIL(NULL, ss_platform_process_cpu_time(spinner) >= end);
    ss_watchdog_look(&watchdog, now + 499 * SS_MILLISECOND);
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_NONE);
    ss_watchdog_look(&watchdog, now + 500 * SS_MILLISECOND);
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_STUCK);
    kin_reap(spinner);
}
END_TEST

/* The master is notified and ends itself. */
START_TEST(a_stuck_master_gets_sigxcpu) {
    pid_t spinner = kin_start(spin);
    open_board(spinner);
    look();
    atomic_store(&board->phase, SS_PHASE_PAUSED);
    look_for(spinner, 1.5);
    ck_assert(!has_ended(spinner));
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    for (int i = 0; i < 20; i++) {
        atomic_fetch_add(&board->beat, 1);
        look_for(spinner, 0.1);
    }
    ck_assert(!has_ended(spinner));
    expect_end(spinner, SIGXCPU);
}
END_TEST

// clang-format off
PROCESS_MAIN(
    SS_CASE(an_executor_that_never_sleeps_is_killed),
    SS_CASE(an_executor_that_updates_its_beat_is_not_stuck),
    SS_CASE(an_executor_without_a_first_beat_is_not_stuck),
    SS_CASE(a_process_with_a_reused_pid_is_not_ended),
    SS_CASE(the_watchdog_checks_twice_a_second),
    SS_CASE(a_stuck_master_gets_sigxcpu))
