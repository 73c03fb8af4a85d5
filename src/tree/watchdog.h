/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_WATCHDOG_H
#define SHOWSTOPPER_TREE_WATCHDOG_H

#include "loop/board.h"

/*
 * Sees that no process of ours runs on and on in a module that never returns. Each changes a word
 * of the board once in every turn of its loop; who uses much CPU time in between is stuck. Time
 * that passes otherwise proves nothing: the machine may be overloaded, or have been suspended.
 */
struct ss_watchdog {
    struct ss_board *board;
    pid_t master;
    uint64_t master_started;
    ss_time next;
    struct ss_watched *watched; /* the executors, then the master */
};

int ss_watchdog_open(struct ss_watchdog *watchdog, struct ss_board *board, pid_t master);

/* Looks, where it is time to, and ends who is stuck. */
void ss_watchdog_look(struct ss_watchdog *watchdog, ss_time now);

#endif
