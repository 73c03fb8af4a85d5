/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_EXECUTOR_H
#define SHOWSTOPPER_RUN_EXECUTOR_H

#include "command/plan.h"
#include "loop/board.h"
#include "loop/pipeline.h"
#include "tree/guardian.h"
#include "tree/instance.h"

/* Everything that an executor gets from the master through fork(). */
struct ss_executor_setup {
    const struct ss_plan *plan;
    struct ss_board *board;
    const struct ss_counter_reader *reader; /* open; NULL: the source has no counters */
    uint32_t index;
    pid_t master;
    int master_bell;                   /* a byte makes the master look at the board */
    int guardian_bell;                 /* a byte makes the guardian look at the board */
    struct ss_guardian_setup guardian; /* for an executor that stands in when master and guardian
                                          are dead */
    struct ss_launch launch;
};

_Noreturn void ss_executor_run(const struct ss_executor_setup *setup);

#endif
