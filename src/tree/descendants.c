/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/descendants.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "platform/platform.h"

void ss_descendants_add(struct ss_descendants *list, pid_t pid, uint64_t started) {
    if (pid <= 1 || started == 0)
        return;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].pid == pid && list->items[i].started == started)
            return;
    }
    list->incomplete |= !SS_GROW(list->items, list->count + 1, list->room);
    if (!list->incomplete)
        list->items[list->count++] = (struct ss_descendant){.pid = pid, .started = started};
}

void ss_descendants_add_branches(
    struct ss_descendants *list, const struct ss_holds *holds, uint32_t row) {
    for (uint32_t i = 0; i < holds->count; i++) {
        if (holds->list[i].row == row)
            ss_descendants_add(list, holds->list[i].pid, holds->list[i].started);
    }
}

struct parent {
    struct ss_descendants *list;
    struct ss_descendant process;
};

/*
 * Adds a child if its parent still exists after the child was looked up: otherwise the parent's pid
 * may have been reused.
 */
static void add_child(void *context, pid_t pid) {
    struct parent *parent = context;
    struct ss_process child;
    if (ss_platform_process_info(pid, &child) && child.parent == parent->process.pid &&
        ss_platform_process_started(parent->process.pid) == parent->process.started)
        ss_descendants_add(parent->list, pid, child.started);
}

void ss_descendants_add_children(struct ss_descendants *list, pid_t pid, uint64_t started) {
    struct parent parent = {list, {pid, started}};
    ss_platform_process_children(pid, add_child, &parent);
}

void ss_descendants_find(struct ss_descendants *list, bool stop) {
    uint32_t before;
    do {
        before = list->count;
        for (uint32_t i = 0; i < list->count; i++) {
            struct ss_descendant item = list->items[i]; /* the array may move */
            if (stop)
                ss_platform_process_signal_by_pid(item.pid, item.started, SIGSTOP);
            ss_descendants_add_children(list, item.pid, item.started);
        }
        /* A process may have been in fork() when it got the signal. */
    } while (stop && list->count > before);
}

void ss_descendants_signal(const struct ss_descendants *list, int signal) {
    for (uint32_t i = list->count; i-- > 0;)
        ss_platform_process_signal_by_pid(list->items[i].pid, list->items[i].started, signal);
}

/* CPU time after which a process has returned from fork(), unless it has a lot of memory. */
#define FORK_TIME (5 * SS_MILLISECOND)

/* How long to wait until runnable processes have used that much CPU time. */
#define SETTLE_PATIENCE (10 * SS_SECOND)

/* How long to continue processes that something keeps stopping. */
#define STOP_PATIENCE SS_SECOND

/* Time between two looks. */
#define SETTLE_ROUND (3 * SS_MILLISECOND)

/* Number of looks in a row that must find no stopped process. */
#define EMPTY_SCANS 2

#define WAVES   2
#define SETTLED WAVES

struct scan {
    uint32_t wave;
    bool waits;     /* a process of this wave has not settled */
    bool runnable;  /* such a process only needs CPU time */
    bool continued; /* a process was stopped and has been continued */
};

/*
 * Continues a process if it is stopped, and records whether it has settled. Returns whether it
 * still exists.
 */
static bool settle_process(struct ss_descendant *item, struct scan *scan) {
    char state = ss_platform_process_state(item->pid, item->started);
    if (!state)
        return false;

    bool stopped =
        state == 'T' && ss_platform_process_signal_by_pid(item->pid, item->started, SIGCONT) == 0;
    bool waits = stopped || state == 'D' || state == 'R';

    scan->continued |= stopped;
    if (!waits || ss_platform_process_cpu_time(item->pid) >= item->used + FORK_TIME)
        item->wave = SETTLED;
    scan->waits |= item->wave <= scan->wave;
    scan->runnable |= item->wave <= scan->wave && state == 'R';
    return true;
}

/* Looks at children before their parents. Removes processes that have ended from the list. */
static void settle_all(struct ss_descendants *list, struct scan *scan) {
    uint32_t first = list->count;
    for (uint32_t i = list->count; i-- > 0;) {
        struct ss_descendant item = list->items[i];
        if (settle_process(&item, scan))
            list->items[--first] = item;
    }
    list->count -= first;
    memmove(list->items, list->items + first, list->count * sizeof *list->items);
}

void ss_descendants_settle(struct ss_descendants *list) {
    ss_time begin = ss_platform_now();
    uint32_t wave = 0;
    if (list->count == 0)
        return;

    for (uint32_t i = 0; i < list->count; i++)
        list->items[i].used = ss_platform_process_cpu_time(list->items[i].pid);
    for (int empty = 0; wave < WAVES || empty < EMPTY_SCANS;) {
        struct scan scan = {.wave = wave < WAVES ? wave : WAVES - 1};
        uint32_t known = list->count;
        ss_descendants_find(list, false);
        for (uint32_t i = known; i < list->count; i++)
            list->items[i].wave = wave + 1;

        settle_all(list, &scan);
        wave += !scan.waits && wave < WAVES;
        empty = scan.continued ? 0 : empty + 1;

        ss_time now = ss_platform_now();
        if (now >= begin + (scan.runnable ? SETTLE_PATIENCE : STOP_PATIENCE))
            return;
        ss_platform_sleep_until(now + SETTLE_ROUND);
    }
}

void ss_descendants_close(struct ss_descendants *list) {
    free(list->items);
    *list = (struct ss_descendants){0};
}
