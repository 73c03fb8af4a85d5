/* SPDX-License-Identifier: Apache-2.0 */
#include "cages.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "platform/platform.h"

/* Milliseconds that the dead may take to leave a cage. */
#define PATIENCE 100

void ss_cage_name(const struct ss_board *board, uint32_t row, char name[SS_CAGE_NAME]) {
    snprintf(name, SS_CAGE_NAME, SS_BOARD_PREFIX "%s.%u", board->mark, row);
}

static bool has_cage(const struct ss_board *board, uint32_t row) {
    return atomic_load(&board->rows[row].caged) > 0;
}

int ss_cage_open(const struct ss_board *board, uint32_t row) {
    char name[SS_CAGE_NAME];
    ss_cage_name(board, row, name);
    return has_cage(board, row) ? ss_platform_cage_open(name) : -1;
}

void ss_cage_kill(const struct ss_board *board, uint32_t row) {
    char name[SS_CAGE_NAME];
    ss_cage_name(board, row, name);
    if (has_cage(board, row))
        ss_platform_cage_kill(name);
}

void ss_cage_release(const struct ss_board *board, uint32_t row) {
    int cage = ss_cage_open(board, row);
    if (cage < 0)
        return;
    if (!board->keep)
        ss_cage_kill(board, row);
    ss_platform_cage_freeze(cage, false);
    close(cage);
}

/* Under --keep somebody may be in one for ever, running. */
void ss_cages_remove(const struct ss_board *board) {
    for (uint32_t row = 0; row < board->instances; row++) {
        char name[SS_CAGE_NAME];
        if (!has_cage(board, row))
            continue;
        ss_cage_name(board, row, name);
        for (int i = 0; i < PATIENCE && !ss_platform_cage_remove(name); i++)
            poll(NULL, 0, 1);
    }
}
