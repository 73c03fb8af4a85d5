/* SPDX-License-Identifier: Apache-2.0 */

/* A sweep kills only processes of its own run. */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kin.h"
#include "platform/platform.h"
#include "tree/sweep.h"

static pid_t *child_of_stranger;

static void have_a_child(void) {
    *child_of_stranger = kin_add();
}

/* Sweeps as the guardian does, whose parent is the master. */
static void sweep_as_a_child(struct ss_board *board) {
    pid_t master = getpid(), sweeper = fork();
    if (sweeper == 0) {
        struct ss_sweep sweep;
        kin_begin(master);
        ss_sweep_open(&sweep, board, master);
        ss_sweep_run(&sweep, 0);
        _exit(0);
    }
    kin_reap(sweeper);
}

/* The master has reaped an executor, and its pid is that of a stranger now. */
START_TEST(children_of_a_process_with_the_pid_of_an_earlier_executor_survive) {
    child_of_stranger = mmap(
        NULL, sizeof *child_of_stranger, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(child_of_stranger, MAP_FAILED);
    struct ss_board *board = ss_board_allocate(1, 0);
    ck_assert_ptr_nonnull(board);
    strcpy(board->mark, "none");
    pid_t stranger = kin_start(have_a_child);
    atomic_store(&board->rows[0].executor, stranger);
    atomic_store(&board->rows[0].executor_started, ss_platform_process_started(stranger) - 1);
    atomic_store(&board->rows[0].life, SS_LIFE_ENDED);
    sweep_as_a_child(board);
    char state = run_state(*child_of_stranger);
    ck_assert_msg(state && state != 'Z', "it was killed");
    /* With the start time of that executor, the child would be one that it left. */
    atomic_store(&board->rows[0].executor_started, ss_platform_process_started(stranger));
    sweep_as_a_child(board);
    RUN_UNTIL(NULL, run_state(*child_of_stranger) == 'Z' || !run_state(*child_of_stranger));
    kin_end(stranger);
    free(board);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(children_of_a_process_with_the_pid_of_an_earlier_executor_survive))
/* clang-format on */
