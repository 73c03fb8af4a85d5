/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The watchdog detects stuck processes by the CPU time they use, not by elapsed time. These tests
 * supply the CPU time, so that nothing depends on the speed of this machine; test_stuck.c measures
 * real CPU time.
 */

#include <sys/resource.h>

#include "kin.h"
#include "process.h"

#include "platform/platform.h"
#include "tree/watchdog.h"

static struct ss_board *board;
static struct ss_watchdog watchdog;

/* The test advances this time at its own pace, which must not matter. */
static ss_time now = 1000 * SS_SECOND;

/* The process that never sleeps, and the CPU time it has used. Others use none. */
static pid_t spinner;
static ss_time used = SS_SECOND;

/* The linker replaces ss_platform_process_cpu_time() by this function in the watchdog. */
ss_time __wrap_ss_platform_process_cpu_time(pid_t pid);
ss_time __wrap_ss_platform_process_cpu_time(pid_t pid) {
    return pid == spinner ? used : 0;
}

/* Children write a byte when they answer; end of file if they are killed before. */
static int answers[2] = {-1, -1};

static void answer(int signal) {
    ck_assert_int_eq(write(answers[1], "", 1), 1);
}

static void answer_signals(void) {
    signal(SIGUSR1, answer);
}

/* Starts a child that sleeps and answers SIGUSR1. */
static pid_t start_child(void) {
    if (answers[0] < 0)
        ck_assert_int_eq(pipe2(answers, O_CLOEXEC), 0);
    return kin_start(answer_signals);
}

/* Returns whether the child has not been killed. Other children must have exited. */
static bool is_alive(pid_t child) {
    char byte;
    if (answers[1] >= 0)
        close(answers[1]);
    answers[1] = -1;
    ck_assert_int_eq(kill(child, SIGUSR1), 0);
    return read(answers[0], &byte, 1) == 1;
}

static void open_board(pid_t master) {
    board = kin_board(3);
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
    ss_watchdog_check(&watchdog, now);
    return true;
}

static bool has_ended(pid_t pid) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == pid;
}

/* Lets the watchdog look repeatedly while the spinner uses this much more CPU time. */
static void spend(ss_time time) {
    for (ss_time end = used + time; used < end; used += 10 * SS_MILLISECOND)
        look();
}

/*
 * Lets the watchdog look while the spinner uses CPU time, until this signal has ended the spinner.
 */
static void expect_end(int signal) {
    int status;
    RUN_UNTIL(NULL, (used += 10 * SS_MILLISECOND, look()) && has_ended(spinner));
    ck_assert_int_eq(waitpid(spinner, &status, 0), spinner);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), signal);
}

static void start_spinner(void) {
    open_board(getpid());
    spinner = start_child();
    put_executor(0, spinner);
}

TEST_CASE(an_executor_that_never_sleeps_is_killed) {
    open_board(getpid());
    pid_t sleeper = start_child();
    spinner = start_child();
    put_executor(0, sleeper);
    put_executor(2, spinner);
    expect_end(SIGKILL);
    ck_assert_uint_eq(board->rows[2].failure, SS_FAILURE_STUCK);
    atomic_store(&board->rows[2].life, SS_LIFE_CLEARED);
    /* An hour without a beat proves nothing. */
    for (int i = 0; i < 7200; i++)
        look();
    ck_assert(is_alive(sleeper));
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_NONE);
    ck_assert_uint_eq(board->rows[1].failure, SS_FAILURE_NONE);
}

TEST_CASE(an_executor_that_updates_its_beat_is_not_killed) {
    start_spinner();
    for (int i = 0; i < 20; i++) {
        atomic_fetch_add(&board->rows[0].beat, 1);
        spend(100 * SS_MILLISECOND);
    }
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_NONE);
    expect_end(SIGKILL);
}

TEST_CASE(cpu_time_before_the_first_beat_is_ignored) {
    start_spinner();
    atomic_store(&board->rows[0].beat, 0);
    spend(1500 * SS_MILLISECOND);
    atomic_store(&board->rows[0].beat, 5);
    look();
    look();
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_NONE);
    atomic_store(&board->rows[0].life, SS_LIFE_ENDED);
    spend(1500 * SS_MILLISECOND);
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_NONE);
    atomic_store(&board->rows[0].life, SS_LIFE_ALIVE);
    expect_end(SIGKILL);
}

TEST_CASE(a_process_with_a_reused_pid_is_not_ended) {
    start_spinner();
    atomic_fetch_add(&board->rows[0].executor_started, 1);
    spend(2500 * SS_MILLISECOND);
    ck_assert(is_alive(spinner));
}

TEST_CASE(a_stuck_executor_may_use_one_second_until_the_next_check) {
    start_spinner();
    look();
    look(); /* the watchdog suspects it */
    used += SS_SECOND;
    look();
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_NONE);
    used += 1;
    ss_watchdog_check(&watchdog, now + 499 * SS_MILLISECOND); /* it checks twice a second */
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_NONE);
    look();
    ck_assert_uint_eq(board->rows[0].failure, SS_FAILURE_STUCK);
    kin_reap(spinner);
}

TEST_CASE(a_stuck_master_gets_sigxcpu) {
    spinner = start_child();
    open_board(spinner);
    look();
    atomic_store(&board->phase, SS_PHASE_PAUSED);
    spend(1500 * SS_MILLISECOND);
    ck_assert(is_alive(spinner));
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    for (int i = 0; i < 20; i++) {
        atomic_fetch_add(&board->beat, 1);
        spend(100 * SS_MILLISECOND);
    }
    ck_assert(is_alive(spinner));
    expect_end(SIGXCPU);
}

static void spin(void) {
    close(kin_gate[1]);
    for (;;)
        continue;
}

static int priority_of(pid_t pid) {
    return getpriority(PRIO_PROCESS, (id_t)pid);
}

TEST_CASE(a_master_that_gets_no_cpu_gets_a_high_priority) {
    int before = getpriority(PRIO_PROCESS, 0);
    pid_t runnable = kin_start(spin);
    SKIP_UNLESS(
        setpriority(PRIO_PROCESS, (id_t)runnable, -20) == 0, "high-priority: not permitted");
    setpriority(PRIO_PROCESS, (id_t)runnable, before);
    open_board(runnable);
    atomic_store(&board->beat, 0); /* it has not begun */
    look();
    look();
    for (int i = 0; i < 5; i++) {
        atomic_fetch_add(&board->beat, 1);
        look();
    }
    ck_assert_int_eq(priority_of(runnable), before);
    look();
    ck_assert_int_eq(priority_of(runnable), -20);
    kin_end(runnable);
    pid_t sleeper = kin_start(NULL);
    RUN_UNTIL(NULL, kin_waits(sleeper));
    open_board(sleeper);
    look();
    look();
    ck_assert_int_eq(priority_of(sleeper), before);
}
