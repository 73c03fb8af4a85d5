/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_FREEZER_H
#define SHOWSTOPPER_TREE_FREEZER_H

#include "loop/board.h"

/*
 * A row may have a freezer (see ss_platform_freezer_put()) for processes that have changed their
 * user.
 */

#define SS_FREEZER_NAME_SIZE 80

/*
 * Names the freezer of a row for ss_platform_freezer_put(). If the process ends meanwhile, an empty
 * freezer is left, which ss_freezers_remove() removes.
 */
void ss_freezer_prepare(struct ss_board *board, uint32_t row, char name[SS_FREEZER_NAME_SIZE]);

/* Returns a descriptor for ss_platform_freezer_freeze(); -1 if the row has no freezer. */
int ss_freezer_open(const struct ss_board *board, uint32_t row);

void ss_freezer_kill(const struct ss_board *board, uint32_t row);

/*
 * Kills the processes in the freezer, except with --keep, and thaws it. For the row of a dead
 * executor.
 */
void ss_freezer_release(const struct ss_board *board, uint32_t row);

/*
 * Kills a process that we may not signal, if the system allows freezing it. The row of a process
 * that a dead executor has left is not known, so these processes share a freezer of their own,
 * which no process leaves alive. Returns whether the process was killed.
 */
bool ss_freezer_kill_stray(const struct ss_board *board, pid_t pid, uint64_t started);

/*
 * Removes all freezers that are empty or will be soon. With --keep, a freezer that holds running
 * processes remains.
 */
void ss_freezers_remove(const struct ss_board *board);

#endif
