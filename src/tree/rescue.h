/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_RESCUE_H
#define SHOWSTOPPER_TREE_RESCUE_H

#include <poll.h>

#include <showstopper/contract.h>

#include "loop/board.h"
#include "tree/branches.h"
#include "tree/sweep.h"

/*
 * Ends what dead executors have left, or continues it with --keep. The guardian does this, and so
 * does every executor that outlives both master and guardian; several processes may do it at once.
 */

/* The pidfds of one executor and of its instance's leader. */
struct ss_charge;

/* Indexes into `polls`; the executors are at SS_RESCUE_EXECUTORS and above. */
enum { SS_RESCUE_WAKEUP, SS_RESCUE_MASTER, SS_RESCUE_FORKS, SS_RESCUE_EXECUTORS };

struct ss_rescue {
    struct ss_board *board;
    int master_wakeup; /* a byte in this pipe says that the board has changed */
    struct ss_charge *charges;
    struct pollfd *polls;   /* SS_RESCUE_EXECUTORS + the number of executors; -1: not waited for */
    struct ss_holds *holds; /* holds of all branches */
    struct ss_sweep sweep;
    bool blind; /* some process has no pidfd and must be polled */
    /*
     * Puts processes of the instances on the board that are not there yet. Returns whether the
     * search was complete. NULL: only the guardian can search.
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
 * Sleeps until an event, or for `timeout` milliseconds, and ends what dead executors have left.
 * Returns how many executors are not done with their instances.
 */
uint32_t ss_rescue_look(struct ss_rescue *rescue, int timeout);

void ss_rescue_refresh_holds(struct ss_rescue *rescue);

/* Searches for remaining processes until `deadline`, and writes their number to the board. */
void ss_rescue_sweep(struct ss_rescue *rescue, ss_time deadline);

/*
 * Takes over when the master is dead. The executors notice its death, too, and end their instances;
 * this function ends the executors that did not, and all that they have left.
 */
void ss_rescue_take_over(struct ss_rescue *rescue);

#endif
