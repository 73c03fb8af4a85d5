/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/roster.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tree/branches.h"

/* Time until the next pass: while the group runs; after it was stopped or has changed, and later.
 */
#define USUAL_INTERVAL (100 * SS_MILLISECOND)
#define SHORT_INTERVAL (5 * SS_MILLISECOND)
#define LONG_INTERVAL  (50 * SS_MILLISECOND)

/* The number of such passes: a process may move below the group while a pass lists its parts. */
#define EMPTY_PASSES 2

/* The row of the only instance. */
#define ROW 0

int ss_roster_open(struct ss_roster *roster, struct ss_board *board,
    bool (*is_gone)(void *holder, uint32_t slot), void *holder) {
    *roster = (struct ss_roster){.board = board, .is_gone = is_gone, .holder = holder};
    atomic_store(&board->rows[ROW].leaving, 1); /* so that each stop causes a pass */
    return ss_pid_map_open(&roster->slots, SS_BOARD_BRANCHES);
}

void ss_roster_close(struct ss_roster *roster) {
    ss_pid_map_close(&roster->slots);
}

/*
 * Returns whether the process must not be stopped, even if it is moved to the group: it belongs to
 * this run, or the run descends from it.
 */
static bool is_exempt(const struct ss_board *board, pid_t pid) {
    if (pid <= 1 || pid == board->master || pid == getpid() || pid == atomic_load(&board->sensor) ||
        pid == atomic_load(&board->rows[ROW].executor))
        return true;
    for (int i = 0; i < SS_BOARD_ANCESTORS && atomic_load(&board->ancestors[i]); i++) {
        if (pid == atomic_load(&board->ancestors[i]))
            return true;
    }
    return false;
}

static void meet(void *context, pid_t pid) {
    struct ss_roster *roster = context;
    struct ss_board *board = roster->board;
    struct ss_process process;
    roster->empty = 0;
    uint32_t slot = ss_pid_map_get(&roster->slots, pid);
    if (slot != SS_PID_MAP_NONE) {
        roster->seen[slot] = true;
        return;
    }
    if (is_exempt(board, pid) || !ss_platform_process_look(pid, &process))
        return;

    slot = ss_branch_claim(board, ROW, pid, process.started, false);
    if (slot == SS_BOARD_BRANCHES)
        return;
    ss_pid_map_set(&roster->slots, pid, slot);
    roster->seen[slot] = roster->changed = true;
    if (!ss_platform_process_may_signal(pid))
        atomic_fetch_add(&board->beyond, 1);
}

/* Calls `visit` for each branch on the board. */
static void each_branch(
    struct ss_roster *roster, void (*visit)(struct ss_roster *roster, uint32_t slot)) {
    uint32_t used = atomic_load(&roster->board->branches_used);
    for (uint32_t slot = 0; slot < used; slot++) {
        if (atomic_load(&ss_board_branches(roster->board)[slot].owner))
            visit(roster, slot);
    }
}

/* Another guardian may have begun with this branch. */
static void remember(struct ss_roster *roster, uint32_t slot) {
    struct ss_branch *branch = &ss_board_branches(roster->board)[slot];
    bool continued =
        atomic_load(&branch->left) && atomic_load(&branch->missed) == atomic_load(&branch->serial);
    if (continued || roster->is_gone(roster->holder, slot))
        ss_branch_release(roster->board, slot);
    else
        ss_pid_map_set(&roster->slots, atomic_load(&branch->pid), slot);
}

/*
 * A process that has left the group may be stopped. Its branch remains until the executor, which
 * alone stops processes, has continued it: if the executor is killed, a rescuer does that.
 */
static void dismiss_absent(struct ss_roster *roster, uint32_t slot) {
    if (roster->seen[slot] || atomic_exchange(&ss_board_branches(roster->board)[slot].left, 1))
        return;
    roster->changed = true;
    ss_branches_notify(roster->board, ROW);
}

/*
 * Processes that are new need no haste while the group runs: each stop causes a pass. Some of them
 * may have been in fork() then, and appear a little later.
 */
static ss_time next_interval(const struct ss_roster *roster) {
    ss_time longer = 2 * roster->interval;
    if (!atomic_load(&roster->board->rows[ROW].stopped))
        return USUAL_INTERVAL;
    if (roster->changed || roster->interval == USUAL_INTERVAL)
        return SHORT_INTERVAL;
    return longer < LONG_INTERVAL ? longer : LONG_INTERVAL;
}

bool ss_roster_take(struct ss_roster *roster) {
    struct ss_board *board = roster->board;
    memset(roster->seen, false, sizeof roster->seen);
    roster->changed = false;
    roster->empty++;
    ss_pid_map_clear(&roster->slots);
    each_branch(roster, remember);
    int why = ss_platform_group_each(board->group, meet, roster);
    bool complete = why == 0 || why == -ENOENT;
    if (complete)
        each_branch(roster, dismiss_absent);
    else
        roster->empty = 0;
    if (roster->empty >= EMPTY_PASSES && !atomic_exchange(&board->emptied, 1))
        ss_branches_notify(board, ROW);

    roster->interval = next_interval(roster);
    return complete;
}
