/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/sweep.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tree/freezer.h"

#define DEPTH_MAX 256

/* Time between rounds, for killed processes to disappear. */
#define ROUND (3 * SS_MILLISECOND)

/*
 * Number of rounds in a row that must find nothing: a process may start where a round has already
 * looked.
 */
#define EMPTY_ROUNDS 2

void ss_sweep_prepare(struct ss_board *board) {
    struct ss_process process;
    pid_t at = getpid();
    for (int i = 0; i < SS_BOARD_ANCESTORS_MAX && ss_platform_process_info(at, &process); i++) {
        at = process.parent;
        atomic_store(&board->ancestors[i], at);
    }
}

/* Allocates now: memory may be exhausted at the time of a sweep. */
void ss_sweep_open(struct ss_sweep *sweep, struct ss_board *board, pid_t master) {
    *sweep = (struct ss_sweep){.board = board, .master = master};
    if (ss_pid_map_open(&sweep->executors, board->instances) == 0)
        ss_pid_map_clear(&sweep->executors);
}

static bool may_adopt(const struct ss_sweep *sweep, pid_t pid) {
    if (pid <= 1)
        return true;
    for (int i = 0; i < SS_BOARD_ANCESTORS_MAX; i++) {
        pid_t ancestor = atomic_load(&sweep->board->ancestors[i]);
        if (ancestor == pid || !ancestor)
            return ancestor == pid;
    }
    return false;
}

/* While we are the master or its child, the master's pid cannot be reused. */
static bool master_lives(const struct ss_sweep *sweep) {
    return getppid() == sweep->master || getpid() == sweep->master;
}

static bool is_child_of_master(const struct ss_sweep *sweep, const struct ss_process *process) {
    return master_lives(sweep) && process->parent == sweep->master;
}

/*
 * Returns whether this is the process on the board. The pid is not enough: it may have been reused
 * since the master reaped the process. A process that has just been forked may not have put its
 * start time on the board yet.
 */
static bool is_same_process(
    const struct ss_sweep *sweep, const struct ss_process *process, uint64_t started) {
    return process->started == started || (!started && is_child_of_master(sweep, process));
}

/*
 * Indexes the executors by pid for a round, unless the master may start more of them meanwhile.
 * Searching all rows for every process would take quadratic time.
 */
static void list_executors(struct ss_sweep *sweep) {
    const struct ss_board *board = sweep->board;
    bool may_grow = master_lives(sweep) && atomic_load(&board->phase) == SS_PHASE_STARTING;
    sweep->is_listed = sweep->executors.slots && !may_grow;
    if (!sweep->is_listed)
        return;

    ss_pid_map_clear(&sweep->executors);
    for (uint32_t i = 0; i < board->instances; i++) {
        pid_t executor = atomic_load(&board->rows[i].executor);
        if (executor > 1)
            ss_pid_map_set(&sweep->executors, executor, i);
    }
}

static bool is_executor(const struct ss_sweep *sweep, const struct ss_row *row, pid_t pid,
    const struct ss_process *process) {
    return pid == atomic_load(&row->executor) &&
           is_same_process(sweep, process, atomic_load(&row->executor_started));
}

/*
 * Returns the row of an executor, or NULL if the process is not one. The index has one row per pid,
 * which may be that of an earlier executor with the same pid.
 */
static const struct ss_row *find_executor(
    const struct ss_sweep *sweep, pid_t pid, const struct ss_process *process) {
    const struct ss_row *rows = sweep->board->rows;
    if (sweep->is_listed) {
        uint32_t listed = ss_pid_map_get(&sweep->executors, pid);
        if (listed == SS_PID_MAP_NONE)
            return NULL;
        if (is_executor(sweep, &rows[listed], pid, process))
            return &rows[listed];
    }

    for (uint32_t i = 0; i < sweep->board->instances; i++) {
        if (is_executor(sweep, &rows[i], pid, process))
            return &rows[i];
    }
    return NULL;
}

/* Returns whether the process is part of the crew, so that it exits by itself. */
static bool is_crew(const struct ss_sweep *sweep, pid_t pid, const struct ss_process *process) {
    const struct ss_board *board = sweep->board;
    return pid == getpid() || pid == atomic_load(&board->sensor) ||
           (pid == atomic_load(&board->guardian) &&
               (process->started == atomic_load(&board->guardian_started) ||
                   is_child_of_master(sweep, process))); /* a new guardian */
}

static bool is_marked(const struct ss_sweep *sweep, pid_t pid) {
    char mark[sizeof sweep->board->mark];
    return ss_platform_process_variable(pid, SS_SWEEP_MARK, mark, sizeof mark) &&
           strcmp(mark, sweep->board->mark) == 0;
}

/*
 * Returns whether the process at the top of `chain` carries the mark, so that all others in it, its
 * descendants, are ours. An exiting process has lost its mark, but keeps its children until its
 * memory is freed, which takes seconds on a busy machine. Then the process below it decides, which
 * will be the top.
 */
static bool has_marked_top(struct ss_sweep *sweep, const pid_t *chain, int top) {
    for (int i = top; !is_marked(sweep, chain[i]); i--) {
        if (i > 0 && ss_platform_process_is_exiting(chain[i]))
            continue;
        if (i == 1 && top == 1)
            sweep->unrelated_parent = chain[1]; /* so none of its other children is ours */
        return false;
    }
    return true;
}

/*
 * Returns whether a process is ours. Walks up to the process just below an adopter. A child of the
 * master that is not crew is an orphan of ours, unless the program may have inherited children
 * (`something & exec showstopper`); in that case, and below other adopters, the process must carry
 * the mark. All descendants of a process of ours are ours, whatever their environment says.
 */
static bool is_ours(struct ss_sweep *sweep, pid_t pid, struct ss_process process) {
    pid_t chain[DEPTH_MAX + 1] = {pid};
    int top = 0;
    for (int step = 0; step < DEPTH_MAX; step++) {
        pid = chain[top];
        /* A living executor ends its descendants itself until it is done or gives up. */
        const struct ss_row *row = find_executor(sweep, pid, &process);
        if (row)
            return top > 0 && ss_row_is_done(row);
        if (pid <= 1 || is_crew(sweep, pid, &process))
            return false;
        if (pid == sweep->master && getppid() == sweep->master)
            return false;
        if (is_child_of_master(sweep, &process))
            return sweep->board->owns_all_children || has_marked_top(sweep, chain, top);
        if (may_adopt(sweep, process.parent))
            break;
        if (process.parent == sweep->unrelated_parent)
            return false;

        chain[top + 1] = process.parent;
        if (ss_platform_process_info(chain[top + 1], &process))
            top++;
        else if (!ss_platform_process_info(
                     pid, &process)) /* if it still exists, it has another parent now */
            return false;
    }
    return has_marked_top(sweep, chain, top);
}

/*
 * Kills a process. Returns false if it can be neither signaled nor frozen: it keeps running, and
 * further rounds would not change that.
 */
static bool kill_process(const struct ss_sweep *sweep, pid_t pid, uint64_t started) {
    return ss_platform_process_signal_by_pid(pid, started, SIGKILL) != -EPERM ||
           ss_freezer_kill_stray(sweep->board, pid, started) ||
           !ss_platform_process_is_alive(pid, started);
}

static void visit_process(void *context, pid_t pid) {
    struct ss_sweep *sweep = context;
    struct ss_process process;
    if (!ss_platform_process_info(pid, &process) || process.state == 'Z' || process.state == 'X' ||
        !is_ours(sweep, pid, process))
        return;
    bool reached = sweep->board->keep || kill_process(sweep, pid, process.started);
    ss_platform_process_signal_by_pid(pid, process.started, SIGCONT);
    sweep->touched += reached;
}

/*
 * A scan of all processes takes longer than a process of an endless chain lives, so it may meet
 * none of them. Therefore examines the latest pids repeatedly: until none was missed for CALM_TIME,
 * or, if other programs also start such processes, until none was ours for CHASE_TIME.
 */
#define CALM_TIME      (20 * SS_MILLISECOND)
#define CHASE_TIME     (300 * SS_MILLISECOND)
#define RECENT_PIDS    16
#define CHASE_INTERVAL (100 * SS_MICROSECOND)

static void chase(struct ss_sweep *sweep, ss_time deadline) {
    struct ss_process process;
    pid_t seen = ss_platform_pid_latest();
    ss_time begin = ss_platform_now(), calm = begin;
    for (ss_time now = begin;
         now < deadline && now < calm + CALM_TIME && now < begin + CHASE_TIME;) {
        uint32_t touched = sweep->touched;
        pid_t latest = ss_platform_pid_latest();
        for (pid_t pid = latest > RECENT_PIDS ? latest - RECENT_PIDS : 2; pid <= latest; pid++) {
            visit_process(sweep, pid);
            if (pid > seen && !ss_platform_process_info(pid, &process))
                calm = ss_platform_now();
        }

        if (latest == seen)
            ss_platform_sleep_until(now + CHASE_INTERVAL);
        seen = latest;
        now = ss_platform_now();
        if (sweep->touched > touched)
            begin = calm = now;
    }
}

void ss_sweep_run(struct ss_sweep *sweep, ss_time deadline) {
    for (int empty = 0; empty < EMPTY_ROUNDS;) {
        sweep->touched = 0;
        sweep->unrelated_parent = 0;
        list_executors(sweep);
        ss_platform_process_each(visit_process, sweep);
        if (!sweep->board->keep)
            chase(sweep, deadline);
        empty = sweep->touched && !sweep->board->keep ? 0 : empty + 1;

        ss_time now = ss_platform_now();
        if (now >= deadline)
            return;
        ss_platform_sleep_until(now + ROUND);
    }
}
