/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_GUARDIAN_H
#define SHOWSTOPPER_TREE_GUARDIAN_H

#include <sys/types.h>

#include "loop/board.h"
#include "screen/terminal.h"

struct ss_guardian_setup {
    struct ss_board *board;
    pid_t master;
    int bell;                     /* the guardian's end: a byte says that the board has changed */
    int master_bell;              /* the master's end, likewise */
    int line;                     /* owned by the guardian; negative: not available */
    struct ss_terminal *terminal; /* the run's terminal, restored here if the master cannot */
};

/*
 * The process that outlives all others of a run. It knows every executor and every instance. When
 * an executor or the master dies, it continues and ends what they have left. Never returns.
 */
_Noreturn void ss_guardian_run(const struct ss_guardian_setup *setup);

/*
 * Called by an executor that has outlived the master and is done with its own instance. Waits until
 * the guardian has finished; if the guardian was killed, does its work instead. `setup` has the
 * bells of the run.
 */
void ss_guardian_stand_in(const struct ss_guardian_setup *setup);

#endif
