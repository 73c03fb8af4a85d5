/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_SWEEP_H
#define SHOWSTOPPER_TREE_SWEEP_H

#include "base/pid_map.h"
#include "loop/board.h"

/*
 * Ends what a dead executor or master has left, wherever it is. While the master lives, orphans are
 * its children; afterwards only the mark in their environment identifies them.
 */

/* The environment variable with the mark of the run, ss_board.mark. */
#define SS_SWEEP_MARK "SHOWSTOPPER_INSTANCE_OF"

struct ss_sweep {
    struct ss_board *board;
    pid_t master;
    pid_t unrelated_parent; /* a parent that turned out not to be ours in this round */
    uint32_t touched; /* number of processes killed, or with --keep continued, in this round */
    struct ss_pid_map executors; /* rows of executors by pid in this round; without slots if memory
                                    was exhausted */
    bool is_listed;              /* `executors` has all executors */
};

/*
 * Records which processes may adopt the master's orphans. The master calls this before any sweep is
 * opened.
 */
void ss_sweep_prepare(struct ss_board *board);

void ss_sweep_open(struct ss_sweep *sweep, struct ss_board *board, pid_t master);

/*
 * Scans all processes and kills those that are ours and not below a living executor, or with --keep
 * continues them. Repeats the scan until none is left or `deadline` has passed.
 */
void ss_sweep_run(struct ss_sweep *sweep, ss_time deadline);

#endif
