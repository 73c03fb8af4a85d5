/* SPDX-License-Identifier: Apache-2.0 */

/* A sweep kills only processes of its own run. */

#include <time.h>

#include "kin.h"
#include "platform/platform.h"
#include "tree/sweep.h"

static pid_t *child_of_stranger;

static void have_a_child(void) {
    *child_of_stranger = kin_add();
}

/* Sweeps as the guardian does, whose parent is the master. */
static pid_t start_sweep(struct ss_board *board, ss_time deadline) {
    pid_t master = getpid(), sweeper = fork();
    if (sweeper == 0) {
        struct ss_sweep sweep;
        kin_begin(master);
        ss_sweep_open(&sweep, board, master);
        ss_sweep_run(&sweep, deadline);
        _exit(0);
    }
    return sweeper;
}

static void sweep_as_a_child(struct ss_board *board) {
    kin_reap(start_sweep(board, 0));
}

static pid_t start_with_a_child(void) {
    child_of_stranger = kin_share(sizeof *child_of_stranger);
    return kin_start(have_a_child);
}

/* The master has reaped an executor, and its pid is that of a stranger now. */
TEST_CASE(children_of_a_process_with_the_pid_of_an_earlier_executor_survive) {
    struct ss_board *board = kin_board(1);
    pid_t stranger = start_with_a_child();
    atomic_store(&board->rows[0].executor, stranger);
    atomic_store(&board->rows[0].executor_started, ss_platform_process_started(stranger) - 1);
    atomic_store(&board->rows[0].life, SS_LIFE_ENDED);
    sweep_as_a_child(board);
    ck_assert(run_lives(*child_of_stranger));
    /* With the start time of that executor, the child would be one that it left. */
    atomic_store(&board->rows[0].executor_started, ss_platform_process_started(stranger));
    sweep_as_a_child(board);
    RUN_UNTIL(NULL, !run_lives(*child_of_stranger));
}

/* In either order, and whether or not the master may still start executors. */
TEST_CASE(an_executor_with_the_pid_of_an_earlier_one_survives) {
    for (uint32_t row = 0; row < 2; row++) {
        for (enum ss_phase phase = SS_PHASE_STARTING; phase <= SS_PHASE_RUNNING; phase++) {
            struct ss_board *board = kin_board(2);
            board->owns_all_children = 1; /* any other child of ours would be killed */
            pid_t executor = start_with_a_child();
            uint64_t started = ss_platform_process_started(executor);
            atomic_store(&board->phase, phase);
            for (uint32_t i = 0; i < 2; i++) {
                atomic_store(&board->rows[i].executor, executor);
                atomic_store(&board->rows[i].executor_started, i == row ? started : started - 1);
                atomic_store(&board->rows[i].life, i == row ? SS_LIFE_ALIVE : SS_LIFE_ENDED);
            }
            sweep_as_a_child(board);
            ck_assert(run_lives(executor));
            ck_assert(run_lives(*child_of_stranger));
            kin_end(executor);
        }
    }
}

TEST_CASE(an_orphan_that_is_not_an_executor_is_killed) {
    struct ss_board *board = kin_board(1);
    board->owns_all_children = 1;
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    pid_t orphan = kin_start(NULL);
    sweep_as_a_child(board);
    kin_reap(orphan);
}

#define CHAINS        3
#define CHAIN_SECONDS 100

static _Atomic unsigned *links; /* the number of processes of all chains */

static void forge_a_chain(void) {
    time_t end = time(NULL) + CHAIN_SECONDS;
    close(kin_gate[1]);
    while (time(NULL) < end) {
        setsid();
        (*links)++;
        if (fork() != 0)
            break;
    }
    _exit(0);
}

/* Each process of a chain is gone before a scan of all processes comes to it. */
TEST_CASE(endless_chains_of_processes_are_killed) {
    struct ss_board *board = kin_board(1);
    board->owns_all_children = 1;
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    ss_platform_adopt_orphans();
    links = kin_share(sizeof *links);
    for (int i = 0; i < CHAINS; i++)
        kin_start(forge_a_chain);
    pid_t sweeper = start_sweep(board, ss_platform_now() + CHAIN_SECONDS / 2 * SS_SECOND);
    while (waitpid(-1, NULL, 0) != sweeper) {
    }
    unsigned length = *links;
    run_let_pass(NULL, 0.3);
    ck_assert_uint_eq(*links, length);
}
