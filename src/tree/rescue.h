/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_RESCUE_H
#define SHOWSTOPPER_TREE_RESCUE_H

#include <poll.h>

#include "loop/board.h"
#include "tree/branches.h"
#include "tree/sweep.h"

/*
 * What executors that died have left is ended, or continued where it is to be kept: by the
 * guardian, and by every executor that outlives master and guardian. Several may do it at once.
 */

/* One executor and its instance, held so that their pids cannot come to mean other processes. */
struct ss_charge;

/* The descriptors that are waited for, before those of the executors. */
enum { SS_RESCUE_BELL, SS_RESCUE_MASTER, SS_RESCUE_FORKS, SS_RESCUE_EXECUTORS };

struct ss_rescue {
    struct ss_board *board;
    int master_bell; /* a byte there: look at the board */
    struct ss_charge *charges;
    struct pollfd *polls;   /* of SS_RESCUE_EXECUTORS and every executor; -1: not waited for */
    struct ss_holds *holds; /* on all branches */
    struct ss_sweep sweep;
    bool blind; /* there is a process that we cannot hold and must look for */
};

/* `bell`: where a byte says that the board is to be looked at; -1: nowhere. */
int ss_rescue_open(
    struct ss_rescue *rescue, struct ss_board *board, pid_t master, int bell, int master_bell);

/*
 * Sleeps until something happens, or for `timeout` milliseconds, and ends what executors have left
 * that are found dead. Returns how many executors still have to do with their instances.
 */
uint32_t ss_rescue_look(struct ss_rescue *rescue, int timeout);

/* The hold on what stands in a place of the board; NULL: there is none. */
const struct ss_hold *ss_rescue_find_hold(struct ss_rescue *rescue, uint32_t place);

void ss_rescue_refresh_holds(struct ss_rescue *rescue);

/* Looks for what is left, not beyond the deadline, and notes on the board how much that is. */
void ss_rescue_sweep(struct ss_rescue *rescue, ss_time deadline);

/*
 * The master is dead. Executors know it, too, and end their instances; then this ends those that
 * did not, and all that is left of them.
 */
void ss_rescue_take_over(struct ss_rescue *rescue);

#endif
