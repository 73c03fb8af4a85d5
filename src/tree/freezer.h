/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_FREEZER_H
#define SHOWSTOPPER_TREE_FREEZER_H

#include "loop/board.h"

/* Each row may have a freezer, see ss_platform_freezer_put(): for who has become another user's. */

#define SS_FREEZER_NAME 80

void ss_freezer_name(const struct ss_board *board, uint32_t row, char name[SS_FREEZER_NAME]);

/* What ss_platform_freezer_freeze() takes; -1: the row has none. */
int ss_freezer_open(const struct ss_board *board, uint32_t row);

void ss_freezer_kill(const struct ss_board *board, uint32_t row);

/* For when the executor is dead: continues who is in it and, unless they are kept, ends them. */
void ss_freezer_release(const struct ss_board *board, uint32_t row);

/* Removes all freezers that are empty, or soon will be. */
void ss_freezers_remove(const struct ss_board *board);

#endif
