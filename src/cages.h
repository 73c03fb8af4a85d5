/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_CAGES_H
#define SHOWSTOPPER_CAGES_H

#include "board.h"

/* Each row may have a cage, see ss_platform_cage_put(): for who has become another user's. */

#define SS_CAGE_NAME 80

void ss_cage_name(const struct ss_board *board, uint32_t row, char name[SS_CAGE_NAME]);

/* What ss_platform_cage_freeze() takes; -1: the row has none. */
int ss_cage_open(const struct ss_board *board, uint32_t row);

void ss_cage_kill(const struct ss_board *board, uint32_t row);

/* For when the executor is dead: continues who is in it and, unless they are kept, ends them. */
void ss_cage_release(const struct ss_board *board, uint32_t row);

/* Removes all cages that are empty, or soon will be. */
void ss_cages_remove(const struct ss_board *board);

#endif
