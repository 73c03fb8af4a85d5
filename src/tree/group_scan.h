/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_GROUP_SCAN_H
#define SHOWSTOPPER_TREE_GROUP_SCAN_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "base/pid_map.h"
#include "loop/board.h"

/*
 * Lists the processes of an attached control group and of the groups below it, in place of the
 * census: the kernel reports them, whoever their parents are. Each is a branch by itself, because
 * members of its process group may be in other control groups. Looks again after each stop, when
 * processes that were being forked have appeared.
 */

struct ss_group_scan {
    struct ss_board *board;
    bool (*is_gone)(void *holder, uint32_t slot); /* whether the process of the branch has ended */
    void *holder;
    struct ss_pid_map slots;          /* maps pids to their slots on the board */
    bool seen[SS_BOARD_BRANCHES_MAX]; /* the process of this slot is in the group */
    bool changed;                     /* this pass has found that a process came or left */
    uint32_t empty;                   /* number of passes in a row that found no process */
    ss_time interval;                 /* from this pass to the next one */
};

SS_MUST_USE SS_NONNULL(1, 2) int ss_group_scan_open(struct ss_group_scan *scan,
    struct ss_board *board, bool (*is_gone)(void *holder, uint32_t slot), void *holder);
SS_NONNULL() void ss_group_scan_close(struct ss_group_scan *scan);

/* Updates the board. Returns false if processes may have been missed. */
SS_NONNULL() bool ss_group_scan_run(struct ss_group_scan *scan);

#endif
