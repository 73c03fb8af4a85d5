/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_KIN_H
#define SHOWSTOPPER_TESTS_KIN_H

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "loop/board.h"
#include "process.h"
#include "run.h"

/*
 * Children of the test, forked without exec. Each dies with its parent. kin_start() returns when
 * the child is ready.
 */

static int kin_gate[2]; /* held open by every child that is not ready */

static inline void kin_wait_for_ever(void) {
    close(kin_gate[1]);
    for (;;)
        pause();
}

/* Called first in a new child or grandchild. */
static inline void kin_begin(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(99);
    alarm(PROCESS_TIMEOUT);
}

/* Like fork(). Unless `number` is 0, the child gets that pid; -1 if taken or not permitted. */
static inline pid_t kin_fork(pid_t number) {
    struct clone_args arguments = {
        .exit_signal = SIGCHLD,
        .set_tid = (uintptr_t)&number,
        .set_tid_size = 1,
    };
    return number ? (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments) : fork();
}

/* Starts a child that calls `act` and then waits forever. Returns -1 if the pid is taken. */
static inline pid_t kin_start_as(pid_t number, void (*act)(void)) {
    char byte;
    pid_t parent = getpid();
    ck_assert_int_eq(pipe2(kin_gate, O_CLOEXEC), 0);
    pid_t child = kin_fork(number);
    if (child == 0) {
        kin_begin(parent);
        if (act)
            act();
        kin_wait_for_ever();
    }
    close(kin_gate[1]);
    if (child > 0)
        ck_assert_int_eq(read(kin_gate[0], &byte, 1), 0); /* end of file */
    close(kin_gate[0]);
    ck_assert(child > 0 || number);
    return child;
}

static inline pid_t kin_start(void (*act)(void)) {
    return kin_start_as(0, act);
}

/* For an act that needs a child: forks one that waits forever and returns its pid. */
static inline pid_t kin_add(void) {
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        kin_begin(parent);
        kin_wait_for_ever();
    }
    return child;
}

/* Returns memory that children share. */
static inline void *kin_share(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    return memory;
}

/* Returns a board with a mark that no process has. */
static inline struct ss_board *kin_board(uint32_t instances) {
    struct ss_board *board = ss_board_allocate(instances, 0, false);
    ck_assert_ptr_nonnull(board);
    strcpy(board->mark, "none");
    return board;
}

static inline void kin_reap(pid_t pid) {
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static inline void kin_end(pid_t pid) {
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    kin_reap(pid);
}

/* Ends a child without reaping it. */
static inline void kin_end_unreaped(pid_t pid) {
    siginfo_t info;
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static inline bool kin_is_stopped(pid_t pid) {
    return run_state(pid) == 'T';
}

/* A process that sleeps has handled all signals sent before. */
static inline bool kin_waits(pid_t pid) {
    return run_state(pid) == 'S';
}

#endif
