/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/process_sum.h"

#include <stdlib.h>

#include "base/grow.h"
#include "platform/platform.h"

/* Resolution of the CPU time of waited-for children: 10 ms each for user and system time. */
#define RESOLUTION (20 * SS_MILLISECOND)

void ss_process_sum_close(struct ss_process_sum *sum) {
    free(sum->now.items);
    free(sum->last.items);
    *sum = (struct ss_process_sum){0};
}

static struct ss_process_sum_item *find_process(const struct ss_process_sum_list *list, pid_t pid) {
    for (uint32_t i = 0; pid > 0 && i < list->count; i++) {
        if (list->items[i].pid == pid)
            return &list->items[i];
    }
    return NULL;
}

static void list_process(struct ss_process_sum_list *list, pid_t pid, pid_t parent) {
    list->incomplete |= !SS_GROW(list->items, list->count + 1, list->room);
    if (!list->incomplete)
        list->items[list->count++] = (struct ss_process_sum_item){.pid = pid, .parent = parent};
}

static void swap_lists(struct ss_process_sum *sum) {
    struct ss_process_sum_list list = sum->last;
    sum->last = sum->now;
    sum->now = list;
}

void ss_process_sum_begin(struct ss_process_sum *sum) {
    swap_lists(sum);
    ss_process_sum_clear(sum);
}

void ss_process_sum_clear(struct ss_process_sum *sum) {
    sum->now.count = 0;
    sum->now.incomplete = false;
}

void ss_process_sum_add(struct ss_process_sum *sum, pid_t pid, pid_t parent) {
    if (!find_process(&sum->now, pid))
        list_process(&sum->now, pid, parent);
}

void ss_process_sum_repeat(struct ss_process_sum *sum) {
    for (uint32_t i = 0; i < sum->last.count; i++) {
        if (sum->last.items[i].pid)
            list_process(&sum->now, sum->last.items[i].pid, sum->last.items[i].parent);
    }
}

bool ss_process_sum_has(const struct ss_process_sum *sum, pid_t pid) {
    return find_process(&sum->now, pid);
}

/*
 * Reads the CPU times, those of waited-for children first: the time of a child that ends in between
 * is then missing once instead of counted twice.
 */
static void read_clocks(struct ss_process_sum *sum, pid_t excluded) {
    for (uint32_t i = 0; i < sum->now.count; i++) {
        struct ss_process_sum_item *process = &sum->now.items[i];
        struct ss_process_times times;
        if (ss_platform_process_times(process->pid, &times))
            process->waited = times.waited;
        else
            process->pid = 0; /* it has just exited */
    }

    for (uint32_t i = 0; i < sum->now.count; i++) {
        struct ss_process_sum_item *process = &sum->now.items[i];
        bool own = process->pid == excluded;
        struct ss_process_times times;
        process->used = own ? 0 : ss_platform_process_cpu_time(process->pid);
        if (!own && process->used == 0 && !ss_platform_process_times(process->pid, &times))
            process->pid = 0;
    }
}

/* Returns the entry of the same process in the new reading, or NULL if it is gone. */
static struct ss_process_sum_item *successor(
    const struct ss_process_sum *sum, const struct ss_process_sum_item *old) {
    struct ss_process_sum_item *process = find_process(&sum->now, old->pid);
    return process && process->used >= old->used && process->waited >= old->waited ? process : NULL;
}

/* Copies the history of known processes to the new reading. Excludes the past of new orphans. */
static void carry_over(struct ss_process_sum *sum, bool first) {
    for (uint32_t i = 0; i < sum->now.count; i++) {
        struct ss_process_sum_item *process = &sum->now.items[i];
        const struct ss_process_sum_item *old = find_process(&sum->last, process->pid);
        if (old && successor(sum, old) == process) {
            process->waited_before = old->waited_before;
            process->used_before = old->used_before;
            process->ended = old->ended + old->ending;
            process->lost = old->lost;
            continue;
        }

        process->waited_before = process->waited;
        process->used_before = first || !process->parent ? process->used + process->waited : 0;
    }
}

/* Adds the time of a process that is gone to its closest living ancestor, or to `lost`. */
static void credit_ancestor(struct ss_process_sum *sum, const struct ss_process_sum_item *gone) {
    const struct ss_process_sum_item *ancestor = find_process(&sum->last, gone->parent);
    struct ss_process_sum_item *heir = NULL;
    uint64_t used = gone->used + gone->waited;
    while (ancestor && !(heir = successor(sum, ancestor)))
        ancestor = find_process(&sum->last, ancestor->parent);

    sum->lost += gone->lost;
    if (heir)
        heir->ending += used;
    else if (used > gone->used_before)
        sum->lost += used - gone->used_before;
}

static uint64_t compute_total(struct ss_process_sum *sum) {
    uint64_t total = sum->lost;
    for (uint32_t i = 0; i < sum->now.count; i++) {
        struct ss_process_sum_item *process = &sum->now.items[i];
        uint64_t known = process->waited - process->waited_before + RESOLUTION;
        if (process->ended > known && process->ended - known > process->lost)
            process->lost = process->ended - known;
        if (process->pid)
            total += process->used + process->waited + process->lost - process->used_before;
    }
    return total;
}

bool ss_process_sum_finish(
    struct ss_process_sum *sum, bool first, pid_t excluded, uint64_t *total) {
    if (sum->now.incomplete) {
        swap_lists(sum);
        return false;
    }

    read_clocks(sum, excluded);
    carry_over(sum, first);
    for (uint32_t i = 0; i < sum->last.count; i++) {
        if (sum->last.items[i].pid && !successor(sum, &sum->last.items[i]))
            credit_ancestor(sum, &sum->last.items[i]);
    }

    *total = compute_total(sum);
    return true;
}
