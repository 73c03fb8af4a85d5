/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_GUARDIAN_H
#define SHOWSTOPPER_TREE_GUARDIAN_H

#include <sys/types.h>

#include "loop/board.h"
#include "screen/terminal.h"

struct ss_guardian_setup {
    struct ss_board *board;
    pid_t master;
    int bell;                     /* a byte here: look at the board */
    int master_bell;              /* a byte there: look at the board */
    struct ss_terminal *terminal; /* the run's, for when the master cannot give it back */
};

/*
 * The process that outlives the others by a moment. It knows every executor and every instance,
 * and when an executor or the master has died it continues and ends what they left. Never returns.
 */
_Noreturn void ss_guardian_run(const struct ss_guardian_setup *setup);

/*
 * For an executor that has outlived the master and is done with its own instance: stays until the
 * guardian has finished, and if that was killed before, does what it would have done. The bells of
 * `setup` are those of the run.
 */
void ss_guardian_stand_in(const struct ss_guardian_setup *setup);

#endif
