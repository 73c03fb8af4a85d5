/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/sweep.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tree/freezer.h"

#define DEPTH_MAX 256

/* The time between rounds, for killed processes to disappear. */
#define ROUND (3 * SS_MILLISECOND)

/*
 * How long exiting processes get to free their memory: EXIT_ROUND until the next round, because a
 * round takes CPU time from them, and EXIT_PATIENCE after the deadline, if they were exiting before
 * it.
 */
#define EXIT_ROUND    (30 * SS_MILLISECOND)
#define EXIT_PATIENCE (10 * SS_SECOND)

/*
 * How many rounds in a row must find nothing: a process may start where a round has already looked.
 */
#define EMPTY_ROUNDS 2

void ss_sweep_prepare(struct ss_board *board) {
    struct ss_process process;
    pid_t at = getpid();
    for (int i = 0; i < SS_BOARD_ANCESTORS && ss_platform_process_look(at, &process); i++) {
        at = process.parent;
        atomic_store(&board->ancestors[i], at);
    }
}

void ss_sweep_open(struct ss_sweep *sweep, struct ss_board *board, pid_t master) {
    *sweep = (struct ss_sweep){.board = board, .master = master};
}

static bool may_adopt(const struct ss_sweep *sweep, pid_t pid) {
    if (pid <= 1)
        return true;
    for (int i = 0; i < SS_BOARD_ANCESTORS; i++) {
        pid_t ancestor = atomic_load(&sweep->board->ancestors[i]);
        if (ancestor == pid || !ancestor)
            return ancestor == pid;
    }
    return false;
}

/*
 * Returns whether this is the process on the board. As long as the master lives, it has not reaped
 * what is on the board, so the pid suffices.
 */
static bool is_one(
    const struct ss_sweep *sweep, const struct ss_process *process, uint64_t started) {
    return getppid() == sweep->master || process->started == started;
}

/* Returns the row of an executor, or NULL if the process is not one. */
static const struct ss_row *find_executor(
    const struct ss_sweep *sweep, pid_t pid, const struct ss_process *process) {
    for (uint32_t i = 0; i < sweep->board->instances; i++) {
        const struct ss_row *row = &sweep->board->rows[i];
        if (pid == atomic_load(&row->executor) &&
            is_one(sweep, process, atomic_load(&row->executor_started)))
            return row;
    }
    return NULL;
}

/* Returns whether the process is one of ours that exits by itself. */
static bool is_crew(const struct ss_sweep *sweep, pid_t pid, const struct ss_process *process) {
    const struct ss_board *board = sweep->board;
    return pid == getpid() || pid == atomic_load(&board->sensor) ||
           (pid == atomic_load(&board->guardian) &&
               is_one(sweep, process, atomic_load(&board->guardian_started)));
}

static bool is_marked(const struct ss_sweep *sweep, pid_t pid) {
    char mark[sizeof sweep->board->mark];
    return ss_platform_process_variable(pid, SS_SWEEP_MARK, mark, sizeof mark) &&
           strcmp(mark, sweep->board->mark) == 0;
}

static bool has_exit(const struct ss_sweep_exits *exits, pid_t pid) {
    for (uint32_t i = 0; i < exits->count; i++) {
        if (exits->pids[i] == pid)
            return true;
    }
    return false;
}

/*
 * Waits for a parent to exit. After the deadline, waits only for parents that were exiting in the
 * previous round: on a busy machine there is always one that has just begun.
 */
static void await_exit(struct ss_sweep *sweep, pid_t pid) {
    struct ss_sweep_exits *exits = &sweep->exits;
    bool counts = !sweep->late || has_exit(&sweep->exits_before, pid);
    if (counts && exits->count < SS_SWEEP_EXITS && !has_exit(exits, pid))
        exits->pids[exits->count++] = pid;
}

/*
 * Returns whether the mark of `top` makes its descendant `pid` ours. When a process exits, its mark
 * is gone before its children get another parent.
 */
static bool has_marked_top(struct ss_sweep *sweep, pid_t pid, pid_t top) {
    if (is_marked(sweep, top))
        return true;
    if (top != pid && ss_platform_process_is_exiting(top))
        await_exit(sweep, top);
    return false;
}

/*
 * Returns whether a process is ours. Walks up to the process just below an adopter. A child of the
 * master that is not crew is an orphan of ours, unless the program may have inherited children
 * (`something & exec showstopper`); then, and elsewhere, the process must carry the mark. All
 * descendants of a process of ours are ours, whatever their environment says.
 */
static bool is_ours(struct ss_sweep *sweep, pid_t pid, struct ss_process process) {
    pid_t seen = pid;
    pid_t parent = process.parent;
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        /* A living executor ends its descendants until it is done or gives up. */
        const struct ss_row *row = find_executor(sweep, pid, &process);
        if (row)
            return depth > 0 && ss_row_is_settled(row);
        if (pid <= 1 || is_crew(sweep, pid, &process))
            return false;
        /* As long as we are the master's child, the master's pid cannot have been reused. */
        bool has_master = getppid() == sweep->master;
        if (has_master && pid == sweep->master)
            return false;
        if (has_master && process.parent == sweep->master)
            return sweep->board->alone || has_marked_top(sweep, seen, pid);
        if (may_adopt(sweep, process.parent))
            break;
        if (process.parent == sweep->stranger)
            return false;
        pid = process.parent;
        if (!ss_platform_process_look(pid, &process)) {
            await_exit(sweep, pid);
            return false;
        }
    }
    if (has_marked_top(sweep, seen, pid))
        return true;
    if (pid == parent && !has_exit(&sweep->exits, pid))
        sweep->stranger = parent; /* so all its other children are not ours either */
    return false;
}

static void visit_process(void *context, pid_t pid) {
    struct ss_sweep *sweep = context;
    struct ss_process process;
    if (!ss_platform_process_look(pid, &process) || process.state == 'Z' || process.state == 'X' ||
        !is_ours(sweep, pid, process))
        return;
    if (!sweep->board->keep &&
        ss_platform_process_signal_once(pid, process.started, SIGKILL) == -EPERM)
        ss_freezer_kill_stray(sweep->board, pid, process.started);
    ss_platform_process_signal_once(pid, process.started, SIGCONT);
    sweep->touched++;
}

void ss_sweep_run(struct ss_sweep *sweep, ss_time deadline) {
    static _Atomic uint32_t nothing;
    sweep->late = false;
    sweep->exits.count = 0;
    for (int empty = 0; empty < EMPTY_ROUNDS;) {
        sweep->touched = 0;
        sweep->stranger = 0;
        sweep->exits_before = sweep->exits;
        sweep->exits.count = 0;
        ss_platform_process_each(visit_process, sweep);
        bool waits = sweep->exits.count > 0;
        empty = waits || (sweep->touched && !sweep->board->keep) ? 0 : empty + 1;
        ss_time now = ss_platform_now();
        sweep->late = now >= deadline;
        if (now >= deadline + (waits ? EXIT_PATIENCE : 0))
            return;
        ss_platform_sleep(&nothing, 0, now + (waits ? EXIT_ROUND : ROUND));
    }
}
