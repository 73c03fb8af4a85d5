/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_PROCESS_SUM_H
#define SHOWSTOPPER_TREE_PROCESS_SUM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/contract.h>

/*
 * The CPU time of a changing list of processes: that of living processes, that of children that
 * they have waited for, and the last known time of processes that nobody waited for. A process that
 * lives and dies between two readings counts if its parent waits for it.
 *
 * For a reading, call ss_process_sum_begin(), then ss_process_sum_repeat(), or ss_process_sum_add()
 * for each process, parents before their children, or both, then ss_process_sum_finish().
 */

struct ss_process_sum_item {
    pid_t pid;    /* 0: has ended */
    pid_t parent; /* parent, if that is in the list; otherwise 0 */
    uint64_t used;
    uint64_t waited;        /* CPU time of children that it has waited for */
    uint64_t waited_before; /* `waited` at first sight */
    uint64_t used_before;   /* time used before the process was known, which does not count */
    uint64_t ended;         /* time used by children that disappeared before the previous listing */
    uint64_t ending; /* time used by children that disappeared since, which `waited` may not include
                        yet */
    uint64_t lost;   /* the part of `ended` that the process has not waited for */
};

struct ss_process_sum_list {
    struct ss_process_sum_item *items;
    uint32_t count;
    uint32_t room;
    bool incomplete; /* memory was exhausted */
};

/* All zero: no processes. */
struct ss_process_sum {
    struct ss_process_sum_list now;
    struct ss_process_sum_list last;
    uint64_t lost; /* time used by processes that are gone with all of their listed ancestors */
};

SS_NONNULL() void ss_process_sum_close(struct ss_process_sum *sum);

/* Begins a reading, with an empty list. */
SS_NONNULL() void ss_process_sum_begin(struct ss_process_sum *sum);

/* Empties the list of this reading. */
SS_NONNULL() void ss_process_sum_clear(struct ss_process_sum *sum);

/* Adds a process, unless it is in the list. `parent` is 0 or in the list. */
SS_NONNULL() void ss_process_sum_add(struct ss_process_sum *sum, pid_t pid, pid_t parent);

/* Adds the processes of the previous reading that had not ended. */
SS_NONNULL() void ss_process_sum_repeat(struct ss_process_sum *sum);

SS_NONNULL() bool ss_process_sum_has(const struct ss_process_sum *sum, pid_t pid);

/*
 * Reads the processes and sets `total`, which may fall by the resolution of `waited`. Earlier CPU
 * time does not count at the `first` reading, nor for a later process without a parent in the list.
 * The own time of `excluded`, if it is not 0, does not count, but that of its children does.
 * Returns false and keeps the previous reading if memory was exhausted: processes that are not
 * listed would count as ended.
 */
SS_MUST_USE SS_NONNULL() bool ss_process_sum_finish(
    struct ss_process_sum *sum, bool first, pid_t excluded, uint64_t *total);

#endif
