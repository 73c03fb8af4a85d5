/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/spent.h"

#include <stdlib.h>

#include "platform/platform.h"

/* A reading may take so small a part of the time. */
#define COST_PART 50

/* The system tells user and system time of what parents have waited for in steps of 10 ms each. */
#define STEP (20 * SS_MILLISECOND)

void ss_spent_open(struct ss_spent *spent, struct ss_board *board, uint32_t row) {
    *spent = (struct ss_spent){.board = board, .row = row, .latest = -1};
}

void ss_spent_close(struct ss_spent *spent) {
    free(spent->now.items);
    free(spent->last.items);
    *spent = (struct ss_spent){0};
}

static struct ss_spent_process *find(const struct ss_spent_list *list, pid_t pid) {
    for (uint32_t i = 0; pid > 0 && i < list->count; i++) {
        if (list->items[i].pid == pid)
            return &list->items[i];
    }
    return NULL;
}

/* ---- which processes there are ---- */

static void add(struct ss_spent_list *list, pid_t pid, pid_t parent) {
    if (list->count == list->room) {
        uint32_t room = list->room ? 2 * list->room : 64;
        struct ss_spent_process *items = reallocarray(list->items, room, sizeof *items);
        if (!items)
            return;
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = (struct ss_spent_process){.pid = pid, .parent = parent};
}

struct listing {
    struct ss_spent *spent;
    pid_t parent;
};

static void see_child(void *context, pid_t pid) {
    struct listing *listing = context;
    if (!find(&listing->spent->now, pid))
        add(&listing->spent->now, pid, listing->parent);
}

/* Parents come before their children. */
static void list_descendants(struct ss_spent *spent, uint32_t from) {
    for (uint32_t i = from; i < spent->now.count; i++) {
        struct listing listing = {spent, spent->now.items[i].pid};
        ss_platform_process_children(listing.parent, see_child, &listing);
    }
}

/* A process that has lost its parent is no child of any that is listed. */
static void list_orphans(struct ss_spent *spent) {
    struct ss_branch *branches = ss_board_branches(spent->board);
    uint32_t used = atomic_load(&spent->board->branches_used);
    for (uint32_t slot = 0; slot < used; slot++) {
        pid_t pid = atomic_load(&branches[slot].pid);
        uint32_t count = spent->now.count;
        if (atomic_load(&branches[slot].owner) != spent->row + 1 || find(&spent->now, pid) ||
            !ss_platform_process_lives(pid, atomic_load(&branches[slot].started)))
            continue;
        add(&spent->now, pid, 0);
        list_descendants(spent, count);
    }
}

/* The executor itself is listed for what it has waited for. Its orphans are its children. */
static void list_processes(struct ss_spent *spent) {
    struct ss_row *row = &spent->board->rows[spent->row];
    bool attached = spent->board->attached;
    pid_t first = atomic_load(attached ? &row->leader : &row->executor);
    spent->now.count = 0;
    if (first > 1 && !ss_row_is_settled(row))
        add(&spent->now, first, 0);
    list_descendants(spent, 0);
    if (attached)
        list_orphans(spent);
}

/* ---- what they have used ---- */

/*
 * Children are read before their parents: what a child that ends meanwhile has used is then counted
 * twice for once, not lost.
 */
static void read_clocks(struct ss_spent *spent) {
    struct ss_row *row = &spent->board->rows[spent->row];
    for (uint32_t i = spent->now.count; i-- > 0;) {
        struct ss_spent_process *process = &spent->now.items[i];
        struct ss_process_times times;
        bool own = !spent->board->attached && process->pid == atomic_load(&row->executor);
        process->used = own ? 0 : ss_platform_process_cpu_time(process->pid);
        process->waited = 0;
        if (ss_platform_process_times(process->pid, &times))
            process->waited = times.waited;
        else
            process->pid = 0; /* it has just gone */
    }
}

/* The process of the last reading that `old` still is; NULL: it is gone. */
static struct ss_spent_process *successor(
    const struct ss_spent *spent, const struct ss_spent_process *old) {
    struct ss_spent_process *process = find(&spent->now, old->pid);
    return process && process->used >= old->used && process->waited >= old->waited ? process : NULL;
}

/* What is known of a process goes over to the new reading. A new orphan's past is not ours. */
static void carry_over(struct ss_spent *spent) {
    bool first = spent->latest < 0;
    for (uint32_t i = 0; i < spent->now.count; i++) {
        struct ss_spent_process *process = &spent->now.items[i];
        const struct ss_spent_process *old = find(&spent->last, process->pid);
        if (old && successor(spent, old) == process) {
            process->waited_0 = old->waited_0;
            process->before = old->before;
            process->ended = old->ended;
            process->lost = old->lost;
            continue;
        }
        process->waited_0 = process->waited;
        process->before = first || !process->parent ? process->used + process->waited : 0;
    }
}

/* What a process has used goes to the next one above it that is still there. */
static void bury(struct ss_spent *spent, const struct ss_spent_process *gone) {
    const struct ss_spent_process *above = find(&spent->last, gone->parent);
    struct ss_spent_process *heir = NULL;
    while (above && !(heir = successor(spent, above)))
        above = find(&spent->last, above->parent);
    spent->lost += gone->lost;
    if (heir)
        heir->ended += gone->used + gone->waited;
    else
        spent->lost += gone->used + gone->waited - gone->before;
}

static uint64_t add_up(struct ss_spent *spent) {
    uint64_t total = spent->lost;
    for (uint32_t i = 0; i < spent->now.count; i++) {
        struct ss_spent_process *process = &spent->now.items[i];
        uint64_t known = process->waited - process->waited_0 + STEP;
        if (process->ended > known && process->ended - known > process->lost)
            process->lost = process->ended - known;
        if (process->pid)
            total += process->used + process->waited + process->lost - process->before;
    }
    return total;
}

static void swap(struct ss_spent *spent) {
    struct ss_spent_list list = spent->last;
    spent->last = spent->now;
    spent->now = list;
}

/* While no process has been started on the machine, those of the last reading are all. */
uint64_t ss_spent_read(struct ss_spent *spent, ss_time now) {
    if (now < spent->due)
        return spent->total;
    pid_t latest = ss_platform_process_latest();
    swap(spent);
    if (latest < 0 || latest != spent->latest) {
        list_processes(spent);
    } else {
        spent->now.count = 0;
        for (uint32_t i = 0; i < spent->last.count; i++) {
            if (spent->last.items[i].pid)
                add(&spent->now, spent->last.items[i].pid, spent->last.items[i].parent);
        }
    }
    read_clocks(spent);
    carry_over(spent);
    for (uint32_t i = 0; i < spent->last.count; i++) {
        if (spent->last.items[i].pid && !successor(spent, &spent->last.items[i]))
            bury(spent, &spent->last.items[i]);
    }
    spent->latest = latest < 0 ? 0 : latest;
    uint64_t total = add_up(spent);
    spent->total = total > spent->total ? total : spent->total;
    spent->due = now + COST_PART * ss_time_since(ss_platform_now(), now);
    return spent->total;
}

void ss_spent_count(struct ss_board *board, uint32_t cpus, struct ss_counters *counters) {
    *counters = (struct ss_counters){
        .time = ss_platform_now(),
        .set = 1,
        .capacity = cpus,
        .cpus = cpus,
        .ran = true,
    };
    for (uint32_t i = 0; i < board->instances; i++)
        counters->used += atomic_load(&board->rows[i].spent);
}
