/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_SWEEP_H
#define SHOWSTOPPER_TREE_SWEEP_H

#include "loop/board.h"

/*
 * Ends what a dead executor or master has left, wherever it has got to. As long as the master
 * lives, orphans are its children; after that only the mark in their environment tells that they
 * were ours.
 */

/* The variable that holds the mark of the run, ss_board.mark. */
#define SS_SWEEP_MARK "SHOWSTOPPER_INSTANCE_OF"

struct ss_sweep {
    struct ss_board *board;
    pid_t master;
    pid_t stranger;   /* a parent known in this round to be none of ours */
    uint32_t touched; /* processes signalled in the present round */
};

/* For the master, before others open a sweep: notes who may adopt its orphans. */
void ss_sweep_prepare(struct ss_board *board);

void ss_sweep_open(struct ss_sweep *sweep, struct ss_board *board, pid_t master);

/*
 * Looks at every process there is and kills those that are ours and below no living executor, or
 * continues them where they are to be kept, again and again until there are none, but not beyond
 * `deadline`.
 */
void ss_sweep_run(struct ss_sweep *sweep, ss_time deadline);

#endif
