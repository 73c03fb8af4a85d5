/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/freezer.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "platform/platform.h"

/*
 * How long to wait until processes have left the freezers. Killed ones exit as soon as they get a
 * CPU; with --keep, processes may stay forever.
 */
#define KILLED_PATIENCE (5 * SS_SECOND)
#define KEPT_PATIENCE   (100 * SS_MILLISECOND)

static void name_freezer(
    const struct ss_board *board, uint32_t row, char name[SS_FREEZER_NAME_SIZE]) {
    snprintf(name, SS_FREEZER_NAME_SIZE, SS_BOARD_PREFIX "%s.%u", board->mark, row);
}

void ss_freezer_prepare(struct ss_board *board, uint32_t row, char name[SS_FREEZER_NAME_SIZE]) {
    atomic_store(&board->rows[row].may_have_freezer, 1);
    name_freezer(board, row, name);
}

static bool was_entered(const struct ss_board *board, uint32_t row) {
    return atomic_load(&board->rows[row].frozen) > 0;
}

int ss_freezer_open(const struct ss_board *board, uint32_t row) {
    char name[SS_FREEZER_NAME_SIZE];
    name_freezer(board, row, name);
    return was_entered(board, row) ? ss_platform_freezer_open(name) : -1;
}

void ss_freezer_kill(const struct ss_board *board, uint32_t row) {
    char name[SS_FREEZER_NAME_SIZE];
    name_freezer(board, row, name);
    if (was_entered(board, row))
        ss_platform_freezer_kill(name);
}

void ss_freezer_release(const struct ss_board *board, uint32_t row) {
    int freezer = ss_freezer_open(board, row);
    if (freezer < 0)
        return;
    if (!board->keep)
        ss_freezer_kill(board, row);
    ss_platform_freezer_freeze(freezer, false);
    close(freezer);
}

bool ss_freezer_kill_stray(const struct ss_board *board, pid_t pid, uint64_t started) {
    char name[SS_FREEZER_NAME_SIZE];
    name_freezer(board, board->instances, name);
    if (!ss_platform_freezer_put(name, pid, started))
        return false;
    ss_platform_freezer_kill(name);
    return true;
}

static void remove_freezer(const struct ss_board *board, uint32_t row, ss_time deadline) {
    char name[SS_FREEZER_NAME_SIZE];
    name_freezer(board, row, name);
    while (!ss_platform_freezer_remove(name) && ss_platform_now() < deadline)
        poll(NULL, 0, 1);
}

void ss_freezers_remove(const struct ss_board *board) {
    ss_time deadline = ss_platform_now() + (board->keep ? KEPT_PATIENCE : KILLED_PATIENCE);
    for (uint32_t row = 0; row < board->instances; row++) {
        if (atomic_load(&board->rows[row].may_have_freezer))
            remove_freezer(board, row, deadline);
    }
    remove_freezer(board, board->instances, deadline); /* see ss_freezer_kill_stray() */
}
