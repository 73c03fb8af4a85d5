/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/rescue.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/wakeup.h"
#include "platform/platform.h"
#include "tree/descendants.h"
#include "tree/freezer.h"

/* How long to wait for executors to end their instances once the master is dead. */
#define MASTER_GONE_PATIENCE (400 * SS_MILLISECOND)

/*
 * How long to wait for killed executors. One that was killed while it sent a signal still sends it,
 * and a stop must not follow our SIGCONT.
 */
#define EXECUTOR_PATIENCE (100 * SS_MILLISECOND)

/* How long a sweep may search for remaining processes. */
#define SWEEP_PATIENCE SS_SECOND

/* How long to wait for killed processes of an attached instance, and how often to look. */
#define KILLED_PATIENCE (400 * SS_MILLISECOND)
#define KILLED_INTERVAL (3 * SS_MILLISECOND)

/* Number of looks in a row that must find nothing: a birth may be reported after the first one. */
#define EMPTY_SCANS 2

/* Polling interval in milliseconds for processes without a pidfd. */
#define POLL_INTERVAL_MS 50

struct ss_rescue_row {
    int executor_pidfd;    /* negative: not open */
    struct ss_hold leader; /* its group; if attached, the process itself */
};

static void hold_executor(struct ss_rescue *rescue, uint32_t index) {
    struct ss_row *row = &rescue->board->rows[index];
    struct ss_rescue_row *entry = &rescue->rows[index];
    pid_t executor = atomic_load(&row->executor);
    if (entry->executor_pidfd >= 0 || executor <= 1)
        return;
    entry->executor_pidfd = ss_platform_process_open(executor, atomic_load(&row->executor_started));
    rescue->polls[SS_RESCUE_EXECUTORS + index].fd = entry->executor_pidfd;
}

static void hold_leader(struct ss_rescue *rescue, uint32_t index) {
    struct ss_row *row = &rescue->board->rows[index];
    struct ss_hold *leader = &rescue->rows[index].leader;
    pid_t pid = atomic_load(&row->leader);
    if (pid == leader->pid)
        return;

    ss_hold_close(leader);
    *leader = (struct ss_hold){
        .pid = pid,
        .started = atomic_load(&row->leader_started),
        .group = !rescue->board->attached,
        .pidfd = -1,
    };
    if (pid <= 1)
        return;
    ss_hold_open(leader);
    /* Even while the leader is a zombie, its pid belongs to its group. */
    leader->by_pid = leader->pidfd < 0;
}

/*
 * Signals the group of an instance. If attached, signals its first process; the others are
 * branches. Once the leader's pid may belong to an unrelated group, only the sweep can find our
 * processes.
 */
static void signal_instance(const struct ss_rescue *rescue, uint32_t index, int signal) {
    ss_hold_signal(&rescue->rows[index].leader, signal);
}

void ss_rescue_refresh_holds(struct ss_rescue *rescue) {
    uint32_t first_new;
    ss_holds_refresh(rescue->holds, rescue->board, SS_HOLDS_ALL, &first_new);
}

/*
 * Returns the number of processes of an attached instance that have not exited, and sets `runnable`
 * if any of them is runnable.
 */
static uint32_t count_left(const struct ss_rescue *rescue, uint32_t index, bool *runnable) {
    const struct ss_hold *leader = &rescue->rows[index].leader;
    uint32_t left = !ss_hold_has_ended(leader);
    *runnable = ss_hold_is_runnable(leader);
    for (uint32_t i = 0; i < rescue->holds->count; i++) {
        const struct ss_hold *hold = &rescue->holds->list[i];
        if (hold->row != index || hold->pid == leader->pid || ss_hold_has_ended(hold))
            continue;
        left++;
        *runnable |= ss_hold_is_runnable(hold);
    }
    return left;
}

/*
 * Lists the known processes of an instance and their descendants. Processes that will be killed are
 * stopped first, whole groups at once, so that they cannot fork meanwhile.
 */
static void list_processes(
    const struct ss_rescue *rescue, uint32_t index, bool stop, struct ss_descendants *list) {
    const struct ss_hold *leader = &rescue->rows[index].leader;
    if (stop) {
        signal_instance(rescue, index, SIGSTOP);
        ss_holds_signal(rescue->holds, 0, index, SIGSTOP);
    }
    ss_descendants_add(list, leader->pid, leader->started);
    ss_descendants_add_branches(list, rescue->holds, index);
    ss_descendants_find(list, stop);
}

/* Continues parents last, so that no shell sees its children stopped. */
static void continue_holds(struct ss_rescue *rescue, uint32_t index) {
    ss_holds_signal_reversed(rescue->holds, index, SIGCONT);
    ss_holds_signal_leaderless(rescue->holds, rescue->board, index, SIGCONT);
    signal_instance(rescue, index, SIGCONT);
}

static void kill_holds(struct ss_rescue *rescue, uint32_t index) {
    signal_instance(rescue, index, SIGKILL);
    ss_holds_signal(rescue->holds, 0, index, SIGKILL);
    ss_holds_signal_leaderless(rescue->holds, rescue->board, index, SIGKILL);
}

static bool search(struct ss_rescue *rescue) {
    return !rescue->search || rescue->search(rescue->searcher);
}

/*
 * Kills the processes of an attached instance until none is found, and counts those that survive
 * SIGKILL. A sweep can do neither, because they are not our descendants.
 */
static void kill_attached(struct ss_rescue *rescue, uint32_t index) {
    ss_time begin = ss_platform_now();
    uint32_t left = 0;
    for (int empty = 0; empty < EMPTY_SCANS;) {
        bool runnable, complete = search(rescue);
        ss_rescue_refresh_holds(rescue);
        kill_holds(rescue, index);
        continue_holds(rescue, index);
        left = count_left(rescue, index, &runnable);
        empty = complete && left == 0 ? empty + 1 : 0;

        ss_time now = ss_platform_now();
        if (now >= begin + (runnable ? SS_HOLD_RUNNABLE_PATIENCE : KILLED_PATIENCE))
            break;
        ss_platform_sleep_until(now + KILLED_INTERVAL);
    }
    atomic_store(&rescue->board->rows[index].survivors, left);
}

/* Ends the processes that a dead executor has left, or continues them with --keep. */
static void end_or_continue(struct ss_rescue *rescue, uint32_t index) {
    const struct ss_board *board = rescue->board;
    struct ss_row *row = &rescue->board->rows[index];
    bool ends = !board->keep;
    struct ss_descendants list = {0};
    if (ss_row_is_done(row))
        return;

    atomic_fetch_add(&rescue->board->losses, 1);
    hold_leader(rescue, index);
    ss_rescue_refresh_holds(rescue);
    list_processes(rescue, index, ends, &list);
    if (ends) {
        kill_holds(rescue, index);
        ss_descendants_signal(&list, SIGKILL);
    }
    ss_freezer_release(rescue->board, index);
    ss_descendants_signal(&list, SIGCONT);
    continue_holds(rescue, index);
    if (!ends) {
        ss_descendants_settle(&list);
        continue_holds(rescue, index);
    }
    ss_descendants_close(&list);

    if (board->attached && ends)
        kill_attached(rescue, index);
    atomic_store(&row->stopped, 0);
    ss_board_permit(rescue->board, index, ss_platform_now(), false);
    ss_board_leave(rescue->board, index, SS_LIFE_CLEARED);
    ss_wakeup_send(rescue->master_wakeup);
}

static void drop_executor(struct ss_rescue *rescue, uint32_t index) {
    struct ss_rescue_row *entry = &rescue->rows[index];
    if (entry->executor_pidfd >= 0)
        close(entry->executor_pidfd);
    entry->executor_pidfd = -1;
    rescue->polls[SS_RESCUE_EXECUTORS + index].fd = -1;
    atomic_store(&rescue->board->rows[index].executor, -1);
}

/*
 * Returns whether an executor has died, even if it has no pidfd or the pidfd was not opened in
 * time. Another rescuer may have taken it off the board already.
 */
static bool is_lost(struct ss_rescue *rescue, uint32_t index) {
    struct ss_row *row = &rescue->board->rows[index];
    pid_t executor = atomic_load(&row->executor);
    uint64_t started = atomic_load(&row->executor_started);
    if (rescue->rows[index].executor_pidfd >= 0)
        return rescue->polls[SS_RESCUE_EXECUTORS + index].revents != 0;
    return executor > 1 && started != 0 && !ss_platform_process_is_alive(executor, started);
}

static void kill_executor(struct ss_rescue *rescue, uint32_t index) {
    struct ss_row *row = &rescue->board->rows[index];
    pid_t executor = atomic_load(&row->executor);
    if (rescue->rows[index].executor_pidfd >= 0)
        ss_platform_process_signal(rescue->rows[index].executor_pidfd, SIGKILL);
    else if (executor > 1)
        ss_platform_process_signal_by_pid(executor, atomic_load(&row->executor_started), SIGKILL);
}

/* Waits for killed executors, unless they have no pidfd. */
static void await_executors(struct ss_rescue *rescue) {
    ss_time deadline = ss_platform_now() + EXECUTOR_PATIENCE;
    for (uint32_t i = 0; i < rescue->board->instances; i++) {
        struct pollfd end = {.fd = rescue->rows[i].executor_pidfd, .events = POLLIN};
        ss_time left = ss_time_since(deadline, ss_platform_now());
        if (end.fd >= 0 && !ss_row_is_done(&rescue->board->rows[i]))
            poll(&end, 1, (int)(left / SS_MILLISECOND));
    }
}

void ss_rescue_sweep(struct ss_rescue *rescue, ss_time deadline) {
    ss_sweep_run(&rescue->sweep, deadline);
    atomic_store(&rescue->board->survivors, rescue->board->keep ? 0 : rescue->sweep.touched);
}

/*
 * Sweeps if something may have been left. The board counts both losses and those swept, in case
 * this process is killed in between.
 */
static void sweep_for_losses(struct ss_rescue *rescue) {
    struct ss_board *board = rescue->board;
    for (uint32_t losses; (losses = atomic_load(&board->losses)) != atomic_load(&board->swept);) {
        ss_rescue_sweep(rescue, ss_platform_now() + SWEEP_PATIENCE);
        atomic_store(&board->swept, losses);
    }
}

uint32_t ss_rescue_step(struct ss_rescue *rescue, int timeout_ms) {
    uint32_t count = rescue->board->instances;
    uint32_t left = 0;
    for (uint32_t i = 0; i < SS_RESCUE_EXECUTORS + count; i++)
        rescue->polls[i].revents = 0;
    if (rescue->must_poll && (timeout_ms < 0 || timeout_ms > POLL_INTERVAL_MS))
        timeout_ms = POLL_INTERVAL_MS;
    poll(rescue->polls, SS_RESCUE_EXECUTORS + count, timeout_ms);
    if (rescue->polls[SS_RESCUE_WAKEUP].revents)
        ss_wakeup_drain(rescue->polls[SS_RESCUE_WAKEUP].fd);

    rescue->must_poll = rescue->polls[SS_RESCUE_MASTER].fd < 0;
    for (uint32_t i = 0; i < count; i++) {
        hold_executor(rescue, i);
        hold_leader(rescue, i);
        if (is_lost(rescue, i)) {
            /*
             * Keep this order: if this process is killed in between, the next rescuer must find the
             * executor.
             */
            end_or_continue(rescue, i);
            drop_executor(rescue, i);
        }

        struct ss_row *row = &rescue->board->rows[i];
        bool lives = atomic_load(&row->executor) > 1;
        left += lives && !ss_row_is_done(row);
        rescue->must_poll |= lives && rescue->rows[i].executor_pidfd < 0;
    }

    sweep_for_losses(rescue);
    return left;
}

int ss_rescue_open(
    struct ss_rescue *rescue, struct ss_board *board, pid_t master, int wakeup, int master_wakeup) {
    uint32_t count = board->instances;
    *rescue = (struct ss_rescue){
        .board = board,
        .master_wakeup = master_wakeup,
        .rows = calloc(count, sizeof *rescue->rows),
        .polls = calloc(SS_RESCUE_EXECUTORS + (size_t)count, sizeof *rescue->polls),
        .holds = calloc(1, sizeof *rescue->holds),
    };
    if (!rescue->rows || !rescue->polls || !rescue->holds)
        return -1;

    for (uint32_t i = 0; i < SS_RESCUE_EXECUTORS + count; i++)
        rescue->polls[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    for (uint32_t i = 0; i < count; i++)
        rescue->rows[i] = (struct ss_rescue_row){.executor_pidfd = -1, .leader.pidfd = -1};

    rescue->polls[SS_RESCUE_WAKEUP].fd = wakeup;
    ss_sweep_open(&rescue->sweep, board, master);
    return 0;
}

void ss_rescue_take_over(struct ss_rescue *rescue) {
    ss_time patience = ss_platform_now() + MASTER_GONE_PATIENCE;
    rescue->polls[SS_RESCUE_MASTER].fd = -1;
    while (ss_rescue_step(rescue, 20) && ss_platform_now() < patience)
        search(rescue); /* executors that end attached instances wait for this search */

    for (uint32_t i = 0; i < rescue->board->instances; i++) {
        if (!ss_row_is_done(&rescue->board->rows[i]))
            kill_executor(rescue, i);
    }
    await_executors(rescue);
    for (uint32_t i = 0; i < rescue->board->instances; i++)
        end_or_continue(rescue, i); /* does nothing if it is done */

    /* The sensor dies with the master, but its children do not. */
    if (atomic_exchange(&rescue->board->sensor, 0) > 0)
        atomic_fetch_add(&rescue->board->losses, 1);
    sweep_for_losses(rescue);
    atomic_store(&rescue->board->over, 1);
}
