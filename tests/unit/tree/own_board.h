/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_OWN_BOARD_H
#define SHOWSTOPPER_TESTS_OWN_BOARD_H

/* A board whose branches are all this test process, so that no other process is signaled. */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tree/branches.h"
#include "unit.h"

#define ROWS 3

static struct ss_board *board;
static struct ss_holds *holds;
static pid_t self;
static uint64_t started;
static volatile sig_atomic_t handled;

static inline void count_continuations(int number) {
    handled++;
}

/* ThreadSanitizer delays and merges signals of one kind, so they cannot be counted. */
static inline void expect_continuations(int number) {
#ifdef __SANITIZE_THREAD__
    assert_that(handled, <=, number);
#else
    assert_int_equal(handled, number);
#endif
}

static inline int open_board(void **state) {
    struct sigaction action = {.sa_handler = count_continuations};
    board = ss_board_allocate(ROWS, 0, false);
    holds = calloc(1, sizeof *holds);
    assert_true(board && holds);
    self = getpid();
    started = ss_platform_process_started(self);
    assert_int_not_equal(started, 0);
    assert_int_equal(sigaction(SIGCONT, &action, NULL), 0);
    handled = 0;
    return 0;
}

static inline int close_board(void **state) {
    for (uint32_t i = 0; i < holds->count; i++) {
        if (holds->list[i].pidfd >= 0)
            close(holds->list[i].pidfd);
    }
    free(holds);
    free(board);
    return 0;
}

/* Returns the index of the first new entry. */
static inline uint32_t refresh(uint32_t row) {
    uint32_t fresh = UINT32_MAX;
    ss_holds_refresh(holds, board, row, &fresh);
    assert_that(fresh, <=, holds->count);
    return fresh;
}

static inline struct ss_branch *branch_at(uint32_t place) {
    return &ss_board_branches(board)[place];
}

#endif
