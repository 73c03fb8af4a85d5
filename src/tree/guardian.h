/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_GUARDIAN_H
#define SHOWSTOPPER_TREE_GUARDIAN_H

#include <sys/types.h>

#include "keeper/keeper.h"
#include "loop/board.h"
#include "screen/terminal.h"

struct ss_guardian_setup {
    struct ss_board *board;
    pid_t master;
    int wakeup;        /* read end; a byte says that the board has changed */
    int master_wakeup; /* write end of the master's wakeup pipe */
    struct ss_terminal
        *terminal; /* terminal of the run, which the guardian restores if the master cannot */
    struct ss_guardian *guardian; /* set in the guardian itself */
};

/*
 * The guardian is the process that outlives all others of a run: a keeper that knows every executor
 * and every instance. When an executor or the master dies, it ends what they have left, or
 * continues it with --keep. `setup` must outlive the keeper.
 */
SS_NONNULL() struct ss_keeper_job ss_guardian_job(struct ss_guardian_setup *setup);

/*
 * Waits until the guardian has finished; if the guardian was killed, does its work instead. Called
 * by an executor that has outlived the master and is done with its own instance.
 */
void ss_guardian_stand_in(const struct ss_guardian_setup *setup);

/*
 * Does the last work of a guardian that was killed and cannot be replaced. Called by the master
 * after all executors have ended; needs no other process.
 */
void ss_guardian_finish(const struct ss_guardian_setup *setup);

#endif
