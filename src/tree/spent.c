/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/spent.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "platform/platform.h"

/* A listing may take so small a part of the time. */
#define COST_PART 50

/* Where clocks tell of what happens meanwhile, one is enough from time to time. */
#define LISTING_INTERVAL (100 * SS_MILLISECOND)
#define COST_PART_SPARED 200

/* So much CPU time is looked back on to correct the kernel's clocks. */
#define LEARNED        (500 * SS_MILLISECOND)
#define CORRECTION_MAX 2.0 /* times as much or as little as is right */

/* In about so many listings. */
#define GIVEN_UP 16

#define RATE_MEMORY (100 * SS_MILLISECOND)

/* How often to begin again with clocks while processes are being started. */
#define ATTEMPTS_MAX 20

/* Clocks of running processes may be a tick of the system behind. */
#define GRAIN (10 * SS_MILLISECOND)

/* The system tells user and system time of what parents have waited for in steps of 10 ms each. */
#define STEP (20 * SS_MILLISECOND)

void ss_spent_open(struct ss_spent *spent, struct ss_board *board, uint32_t row) {
    *spent = (struct ss_spent){.board = board, .row = row, .latest = -1, .self = -1};
}

static void close_clocks(struct ss_spent *spent) {
    ss_clocks_close(&spent->clocks);
    if (spent->self >= 0)
        close(spent->self);
    spent->self = -1;
}

void ss_spent_close(struct ss_spent *spent) {
    free(spent->now.items);
    free(spent->last.items);
    close_clocks(spent);
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
 * What was waited for is read before the clocks: what a child that ends meanwhile has used is then
 * missing for once, not counted twice.
 */
static void read_clocks(struct ss_spent *spent) {
    struct ss_row *row = &spent->board->rows[spent->row];
    for (uint32_t i = 0; i < spent->now.count; i++) {
        struct ss_spent_process *process = &spent->now.items[i];
        struct ss_process_times times;
        if (ss_platform_process_times(process->pid, &times))
            process->waited = times.waited;
        else
            process->pid = 0; /* it has just gone */
    }
    for (uint32_t i = 0; i < spent->now.count; i++) {
        struct ss_spent_process *process = &spent->now.items[i];
        bool own = !spent->board->attached && process->pid == atomic_load(&row->executor);
        struct ss_process_times times;
        process->used = own ? 0 : ss_platform_process_cpu_time(process->pid);
        if (!own && process->used == 0 && !ss_platform_process_times(process->pid, &times))
            process->pid = 0;
    }
}

/* The process of the last reading that `old` still is; NULL: it is gone. */
static struct ss_spent_process *successor(
    const struct ss_spent *spent, const struct ss_spent_process *old) {
    struct ss_spent_process *process = find(&spent->now, old->pid);
    return process && process->used >= old->used && process->waited >= old->waited ? process : NULL;
}

/* What is known of a process goes over to the new reading. A new orphan's past is not ours. */
static void carry_over(struct ss_spent *spent, bool first) {
    for (uint32_t i = 0; i < spent->now.count; i++) {
        struct ss_spent_process *process = &spent->now.items[i];
        const struct ss_spent_process *old = find(&spent->last, process->pid);
        if (old && successor(spent, old) == process) {
            process->waited_0 = old->waited_0;
            process->before = old->before;
            process->ended = old->ended + old->ending;
            process->lost = old->lost;
            continue;
        }
        process->waited_0 = process->waited;
        process->before = first || !process->parent ? process->used + process->waited : 0;
    }
}

/* What a process has used counts with the next one above it that is still there. */
static void pass_on(struct ss_spent *spent, const struct ss_spent_process *gone) {
    const struct ss_spent_process *above = find(&spent->last, gone->parent);
    struct ss_spent_process *there = NULL;
    uint64_t used = gone->used + gone->waited;
    while (above && !(there = successor(spent, above)))
        above = find(&spent->last, above->parent);
    spent->lost += gone->lost;
    if (there)
        there->ending += used;
    else if (used > gone->before)
        spent->lost += used - gone->before;
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
static void list_anew(struct ss_spent *spent) {
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
    spent->latest = latest < 0 ? 0 : latest;
}

/* Sets when the next one is due. */
static uint64_t sum_up(struct ss_spent *spent, ss_time now) {
    ss_time begin = ss_platform_now();
    bool first = spent->latest < 0;
    list_anew(spent);
    read_clocks(spent);
    carry_over(spent, first);
    for (uint32_t i = 0; i < spent->last.count; i++) {
        if (spent->last.items[i].pid && !successor(spent, &spent->last.items[i]))
            pass_on(spent, &spent->last.items[i]);
    }
    ss_time cost = ss_time_since(ss_platform_now(), begin);
    spent->due =
        now + (spent->clocks.count ? LISTING_INTERVAL + COST_PART_SPARED * cost : COST_PART * cost);
    return add_up(spent);
}

/* ---- the kernel's clocks ---- */

/* Returns how many threads were added, or -1. */
static int add_all(struct ss_spent *spent) {
    int all = 0;
    list_processes(spent);
    for (uint32_t i = 0; i < spent->now.count; i++) {
        int added = ss_clocks_add(&spent->clocks, spent->now.items[i].pid);
        if (added < 0)
            return -1;
        all += added;
    }
    return all;
}

/*
 * A process that was started meanwhile may or may not descend from a thread that is counted
 * already, so all begins again.
 */
static void open_clocks(struct ss_spent *spent) {
    struct ss_row *row = &spent->board->rows[spent->row];
    int added = -1;
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        close_clocks(spent);
        added = add_all(spent);
        if (added <= 0 || (added = add_all(spent)) <= 0)
            break;
    }
    if (added >= 0 && !spent->board->attached)
        spent->self = ss_platform_task_clock_open(atomic_load(&row->executor), false);
    spent->now.count = 0; /* nothing of them has been read */
    spent->refused = added < 0 || (!spent->board->attached && spent->self < 0);
    if (spent->refused)
        close_clocks(spent);
}

static uint64_t read_sum(const struct ss_spent *spent) {
    uint64_t self = spent->self >= 0 ? ss_platform_task_clock_read(spent->self) : 0;
    return ss_clocks_read(&spent->clocks) - self;
}

/* Moves on with the clocks. What one that ends has told is missing until it is passed on. */
static void follow_clocks(struct ss_spent *spent) {
    uint64_t sum = read_sum(spent);
    uint64_t more = sum > spent->seen ? sum - spent->seen : 0;
    spent->seen += more;
    spent->unlisted += more;
    double right = spent->clocked < LEARNED ? 1 : (double)spent->told / (double)spent->clocked;
    spent->total +=
        (uint64_t)((double)more * fmin(fmax(right, 1 / CORRECTION_MAX), CORRECTION_MAX));
}

/*
 * Listings are late by different times and never early: what they tell of is at least as much as
 * the clocks' sum has to be above the one of its beginning. What these have too much is given up
 * slowly.
 */
static void compare(struct ss_spent *spent) {
    spent->clocked += spent->unlisted;
    spent->told += spent->known - spent->compared;
    spent->unlisted = 0;
    spent->compared = spent->known;
    while (spent->clocked > 2 * LEARNED) {
        spent->clocked /= 2;
        spent->told /= 2;
    }
    int64_t above = (int64_t)(spent->total - spent->known);
    spent->total = spent->known + (uint64_t)(above > 0 ? above - above / GIVEN_UP : 0);
}

static void learn_rate(struct ss_spent *spent, uint64_t used, ss_time now) {
    ss_time passed = ss_time_since(now, spent->read_at);
    double weight = (double)passed / (double)(passed + RATE_MEMORY);
    if (spent->runs && passed > 0 && spent->read_at > 0)
        spent->rate += weight * ((double)used / (double)passed - spent->rate);
    spent->read_at = now;
}

uint64_t ss_spent_read(struct ss_spent *spent, ss_time now) {
    if (!spent->refused && spent->clocks.count == 0) {
        open_clocks(spent);
        spent->seen = read_sum(spent);
    }
    if (spent->clocks.count > 0)
        follow_clocks(spent);
    if (now >= spent->due) {
        uint64_t known = sum_up(spent, now);
        spent->known = known > spent->known ? known : spent->known;
        if (spent->clocks.count > 0)
            compare(spent);
        else
            spent->total = spent->known;
    }
    uint64_t before = spent->shown;
    spent->shown = spent->total > before ? spent->total : before;
    learn_rate(spent, spent->shown - before, now);
    return spent->shown;
}

/* ---- what all have used ---- */

#define TOLD_WORDS 3

void ss_spent_tell(struct ss_spent *spent, bool runs, ss_time now) {
    spent->runs = runs;
    uint64_t words[TOLD_WORDS] = {spent->shown, now, ss_word_from_double(runs ? spent->rate : 0)};
    ss_notice_publish(&spent->board->rows[spent->row].spent, words, TOLD_WORDS);
}

static uint64_t find_used(const struct ss_notice *told, ss_time now) {
    uint64_t words[TOLD_WORDS];
    if (!ss_notice_read(told, words, TOLD_WORDS))
        return 0;
    double passed = (double)ss_time_since(now, words[1]);
    return words[0] + (uint64_t)(passed * ss_double_from_word(words[2]));
}

void ss_spent_count(struct ss_board *board, uint32_t cpus, struct ss_counters *counters) {
    *counters = (struct ss_counters){
        .time = ss_platform_now(),
        .set = 1,
        .capacity = cpus,
        .cpus = cpus,
        .ran = true,
        .grain = GRAIN,
    };
    for (uint32_t i = 0; i < board->instances; i++)
        counters->used += find_used(&board->rows[i].spent, counters->time);
}
