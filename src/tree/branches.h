/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_BRANCHES_H
#define SHOWSTOPPER_TREE_BRANCHES_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "loop/board.h"

/*
 * The parts of an instance's tree outside the instance's own group. The guardian finds them and
 * writes them to the board. The guardian and the executors each open pidfds for them, so that no
 * signal reaches an unrelated process after a pid is reused.
 */

struct ss_hold {
    uint32_t slot;
    uint32_t serial;
    uint32_t row;
    pid_t pid;
    uint64_t started;
    bool group;
    int pidfd;   /* see ss_platform_process_open(); negative: not open */
    bool by_pid; /* no pidfd could be opened: identify the process by `pid` and `started` */
};

struct ss_holds {
    uint32_t count;
    uint32_t seen; /* the board's change counter at the last refresh */
    uint32_t index_of_slot[SS_BOARD_BRANCHES_MAX]; /* index in `list` plus 1; 0 if not held */
    struct ss_hold list[SS_BOARD_BRANCHES_MAX];    /* oldest first */
};

#define SS_HOLDS_ALL UINT32_MAX

/* Opens a pidfd. The caller must have set pid, start time and `group`. */
void ss_hold_open(struct ss_hold *hold);
void ss_hold_close(struct ss_hold *hold);

/* Returns whether the process itself has ended, even if its parent has not reaped it. */
bool ss_hold_has_ended(const struct ss_hold *hold);

/*
 * How long to wait for a killed process that is runnable: it only needs CPU time to exit. Others
 * that survive SIGKILL are frozen by a control group, or wait for a device.
 */
#define SS_HOLD_RUNNABLE_PATIENCE (10 * SS_SECOND)

/* Returns whether the process is running or waiting for a CPU. */
bool ss_hold_is_runnable(const struct ss_hold *hold);

/*
 * Puts a branch on the board. Called by the guardian. Returns the slot, or SS_BOARD_BRANCHES_MAX if
 * the board is full.
 */
uint32_t ss_branch_claim(
    struct ss_board *board, uint32_t row, pid_t pid, uint64_t started, bool group);
void ss_branch_release(struct ss_board *board, uint32_t slot);

/* Makes the row's executor and the rescuers reread its branches. */
void ss_branches_notify(struct ss_board *board, uint32_t row);

/*
 * Opens new branches of this row, or of all rows, and closes those that have left the board. For a
 * single row, also closes branches that have left the instance, and continues all that it closes.
 * Sets `first_new` to the index of the first new entry. Returns false if nothing has changed.
 */
bool ss_holds_refresh(
    struct ss_holds *holds, struct ss_board *board, uint32_t row, uint32_t *first_new);

/* Returns the entry for a slot of the board, or NULL. */
const struct ss_hold *ss_holds_find(const struct ss_holds *holds, uint32_t slot);

/* Signals a branch. Returns 0 or a negative errno; -ESRCH if no process is left. */
int ss_hold_signal(const struct ss_hold *hold, int signal);

/*
 * Signal the entries of this row, or of all rows: in list order from index `from`, or all in
 * reverse order.
 */
void ss_holds_signal(const struct ss_holds *holds, uint32_t from, uint32_t row, int signal);
void ss_holds_signal_reversed(const struct ss_holds *holds, uint32_t row, int signal);

/*
 * Signals the members of groups that can no longer be opened because their leaders have ended, if a
 * witness on the board proves that the ID still belongs to that group. Searches all processes. For
 * a rescuer that has not held these groups itself.
 */
SS_NONNULL()
void ss_holds_signal_leaderless(
    const struct ss_holds *holds, struct ss_board *board, uint32_t row, int signal);

#endif
