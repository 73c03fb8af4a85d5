/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_BRANCHES_H
#define SHOWSTOPPER_TREE_BRANCHES_H

#include <stdbool.h>

#include "loop/board.h"

/*
 * The parts of instances' trees that the instances' groups do not cover. The guardian finds them
 * and writes them on the board; it and the executors hold them, each for itself, so that a signal
 * can reach nobody else, whatever becomes of the numbers.
 */

struct ss_hold {
    uint32_t place;
    uint32_t serial;
    uint32_t row;
    pid_t number;
    uint64_t started;
    bool group;
    int process;    /* see ss_platform_process_open(); -1: cannot be held */
    bool by_number; /* the system knows no holds */
};

struct ss_holds {
    uint32_t count;
    uint32_t seen;                          /* the changes on the board up to the last refresh */
    uint32_t of_place[SS_BOARD_BRANCHES];   /* 1 + the index in the list; 0: not held */
    struct ss_hold list[SS_BOARD_BRANCHES]; /* in the order in which they were found */
};

#define SS_HOLDS_ALL UINT32_MAX

/* For the guardian. Returns the place, or SS_BOARD_BRANCHES when the board is full. */
uint32_t ss_branch_claim(
    struct ss_board *board, uint32_t row, pid_t number, uint64_t started, bool group);
void ss_branch_release(struct ss_board *board, uint32_t place);

/* Has the executor of this row look at what has changed. */
void ss_branches_tell(struct ss_board *board, uint32_t row);

/*
 * Takes hold of what has come on the board for this row, or for all of them, and lets go of what
 * has left it, continued. `fresh` becomes the index of the first new hold in the list. Returns
 * false at once when nothing has changed there.
 */
bool ss_holds_refresh(
    struct ss_holds *holds, struct ss_board *board, uint32_t row, uint32_t *fresh);

/* The hold on what stands in a place of the board; NULL: there is none. */
const struct ss_hold *ss_holds_find(const struct ss_holds *holds, uint32_t place);

/* 0 when sent, else an errno; ESRCH: nobody is there any more. */
int ss_hold_signal(const struct ss_hold *hold, int signal);

/* From the first to the last, and the other way round. */
void ss_holds_signal(const struct ss_holds *holds, uint32_t from, uint32_t row, int signal);
void ss_holds_signal_reversed(const struct ss_holds *holds, uint32_t row, int signal);

#endif
