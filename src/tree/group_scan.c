/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/group_scan.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tree/branches.h"

/* Time until the next pass. */
#define USUAL_INTERVAL (100 * SS_MILLISECOND) /* while the group runs */
#define SHORT_INTERVAL (5 * SS_MILLISECOND)   /* after a stop, or a change while stopped */
#define LONG_INTERVAL  (50 * SS_MILLISECOND)  /* at most, while stopped */

/*
 * Number of passes in a row that must find no process: one may move to a group that the pass has
 * already listed.
 */
#define EMPTY_PASSES 2

/* The row of the only instance. */
#define ROW 0

int ss_group_scan_open(struct ss_group_scan *scan, struct ss_board *board,
    bool (*is_gone)(void *holder, uint32_t slot), void *holder) {
    *scan = (struct ss_group_scan){.board = board, .is_gone = is_gone, .holder = holder};
    atomic_store(&board->rows[ROW].leaving, 1); /* so that each stop causes a pass */
    return ss_pid_map_open(&scan->slots, SS_BOARD_BRANCHES_MAX);
}

void ss_group_scan_close(struct ss_group_scan *scan) {
    ss_pid_map_close(&scan->slots);
}

/*
 * Returns whether the process must not be stopped, even if it moves to the group: it belongs to
 * this run, or the run descends from it.
 */
static bool is_exempt(const struct ss_board *board, pid_t pid) {
    if (pid <= 1 || pid == board->master || pid == getpid() || pid == atomic_load(&board->sensor) ||
        pid == atomic_load(&board->rows[ROW].executor))
        return true;

    for (int i = 0; i < SS_BOARD_ANCESTORS_MAX && atomic_load(&board->ancestors[i]); i++) {
        if (pid == atomic_load(&board->ancestors[i]))
            return true;
    }
    return false;
}

static void add_process(void *context, pid_t pid) {
    struct ss_group_scan *scan = context;
    struct ss_board *board = scan->board;
    struct ss_process process;
    scan->empty = 0;

    uint32_t slot = ss_pid_map_get(&scan->slots, pid);
    if (slot != SS_PID_MAP_NONE) {
        scan->seen[slot] = true;
        return;
    }
    if (is_exempt(board, pid) || !ss_platform_process_info(pid, &process))
        return;

    slot = ss_branch_claim(board, ROW, pid, process.started, false);
    if (slot == SS_BOARD_BRANCHES_MAX)
        return;

    ss_pid_map_set(&scan->slots, pid, slot);
    scan->seen[slot] = scan->changed = true;
    if (!ss_platform_process_may_signal(pid))
        atomic_fetch_add(&board->out_of_reach, 1);
}

/* Calls `visit` for each branch on the board. */
static void each_branch(
    struct ss_group_scan *scan, void (*visit)(struct ss_group_scan *scan, uint32_t slot)) {
    uint32_t used = atomic_load(&scan->board->branches_used);
    for (uint32_t slot = 0; slot < used; slot++) {
        if (atomic_load(&ss_board_branches(scan->board)[slot].owner))
            visit(scan, slot);
    }
}

/*
 * Adds a branch to the map, or releases it if it has ended, or has left and was continued. An
 * earlier guardian may have put it on the board.
 */
static void index_branch(struct ss_group_scan *scan, uint32_t slot) {
    struct ss_branch *branch = &ss_board_branches(scan->board)[slot];
    bool continued = atomic_load(&branch->has_left_group) &&
                     atomic_load(&branch->missed_serial) == atomic_load(&branch->serial);
    if (continued || scan->is_gone(scan->holder, slot))
        ss_branch_release(scan->board, slot);
    else
        ss_pid_map_set(&scan->slots, atomic_load(&branch->pid), slot);
}

/*
 * Marks a branch whose process has left the group. It may be stopped, so the branch remains until
 * the executor, which alone stops processes, has continued it; if the executor is killed, a rescuer
 * does that.
 */
static void mark_if_left(struct ss_group_scan *scan, uint32_t slot) {
    if (scan->seen[slot] ||
        atomic_exchange(&ss_board_branches(scan->board)[slot].has_left_group, 1))
        return;
    scan->changed = true;
    ss_branches_notify(scan->board, ROW);
}

/*
 * New processes need no haste while the group runs, because each stop causes a pass. Some may have
 * been in fork() at the stop, and appear a little later.
 */
static ss_time next_interval(const struct ss_group_scan *scan) {
    ss_time longer = 2 * scan->interval;

    if (!atomic_load(&scan->board->rows[ROW].stopped))
        return USUAL_INTERVAL;
    if (scan->changed || scan->interval == USUAL_INTERVAL)
        return SHORT_INTERVAL;
    return longer < LONG_INTERVAL ? longer : LONG_INTERVAL;
}

bool ss_group_scan_run(struct ss_group_scan *scan) {
    struct ss_board *board = scan->board;
    memset(scan->seen, false, sizeof scan->seen);
    scan->changed = false;
    scan->empty++;
    ss_pid_map_clear(&scan->slots);

    each_branch(scan, index_branch);
    int why = ss_platform_group_each(board->group, add_process, scan);
    bool complete = why == 0 || why == -ENOENT;
    if (complete)
        each_branch(scan, mark_if_left);
    else
        scan->empty = 0;
    if (scan->empty >= EMPTY_PASSES && !atomic_exchange(&board->emptied, 1))
        ss_branches_notify(board, ROW);

    scan->interval = next_interval(scan);
    return complete;
}
