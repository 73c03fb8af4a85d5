/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_WATCHDOG_H
#define SHOWSTOPPER_TREE_WATCHDOG_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "loop/board.h"

/*
 * Detects a process of ours that loops forever in a module. Each process changes a word of the
 * board once per turn of its loop; one that uses much CPU time between two changes is stuck.
 * Elapsed time proves nothing: the machine may be overloaded or have been suspended. While the
 * master is stopped, the watchdog also continues executors that something else has stopped. It
 * raises the priority of a master that gets no CPU.
 */
struct ss_watchdog {
    struct ss_board *board;
    pid_t master;
    uint64_t master_started;
    ss_time next;
    bool master_is_stopped;     /* the master is stopped, so it does not continue executors */
    struct ss_watched *watched; /* the executors, then the master */
};

SS_MUST_USE int ss_watchdog_open(
    struct ss_watchdog *watchdog, struct ss_board *board, pid_t master);

/* Kills stuck executors, and signals a stuck master to exit, if a check is due. */
void ss_watchdog_check(struct ss_watchdog *watchdog, ss_time now);

#endif
