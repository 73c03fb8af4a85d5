/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_RESCUE_H
#define SHOWSTOPPER_TREE_RESCUE_H

#include <poll.h>

#include <showstopper/contract.h>

#include "loop/board.h"
#include "tree/branches.h"
#include "tree/sweep.h"

/*
 * Ends what dead executors have left, or with --keep continues it. The guardian does this. So does
 * the master if no guardian can finish, and each executor that outlives both, possibly several at
 * once.
 */

/* The pidfds of one executor and of its instance's leader. */
struct ss_rescue_row;

/* Indexes into `polls`; the executors are at SS_RESCUE_EXECUTORS and above. */
enum { SS_RESCUE_WAKEUP, SS_RESCUE_MASTER, SS_RESCUE_FORKS, SS_RESCUE_EXECUTORS };

struct ss_rescue {
    struct ss_board *board;
    int master_wakeup; /* write end; a byte says that the board has changed */
    struct ss_rescue_row *rows;
    struct pollfd *polls;   /* SS_RESCUE_EXECUTORS + number of executors */
    struct ss_holds *holds; /* holds of all branches */
    struct ss_sweep sweep;
    bool must_poll; /* some process has no pidfd and must be polled */
    /*
     * Puts new processes of the instances on the board. Returns whether the search was complete.
     * NULL except in the guardian.
     */
    bool (*search)(void *searcher);
    void *searcher;
};

/*
 * Opens a rescue. A byte in `wakeup` says that the board has changed; -1 if absent. Only the
 * guardian sets the poll SS_RESCUE_MASTER.
 */
SS_MUST_USE int ss_rescue_open(
    struct ss_rescue *rescue, struct ss_board *board, pid_t master, int wakeup, int master_wakeup);

/*
 * Sleeps until an event, or for `timeout_ms`, and ends what dead executors have left.
 * Returns the number of executors that are not done with their instances.
 */
uint32_t ss_rescue_step(struct ss_rescue *rescue, int timeout_ms);

void ss_rescue_refresh_holds(struct ss_rescue *rescue);

/*
 * Kills the processes that a dead executor or master has left, or continues them with --keep.
 * Repeats this until none is found or `deadline` has passed. Writes to the board how many the last
 * round still found.
 */
void ss_rescue_sweep(struct ss_rescue *rescue, ss_time deadline);

/*
 * Takes over after the death of the master. The executors notice it, too, and end their instances.
 * Kills the executors that do not, and ends all that they have left.
 */
void ss_rescue_take_over(struct ss_rescue *rescue);

#endif
