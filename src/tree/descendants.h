/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_DESCENDANTS_H
#define SHOWSTOPPER_TREE_DESCENDANTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tree/branches.h"

/*
 * Lists processes and all their descendants, even those that are not on the board yet, as long as
 * the processes in between are alive. A process that leaves its group just as the group is stopped
 * stops outside of it. It is not continued before the census finds it, and once its parent is dead,
 * nothing shows to which instance it belongs.
 *
 * Start with an empty, zeroed list.
 */

struct ss_descendant {
    pid_t pid;
    uint64_t started; /* see ss_platform_process_started() */
    ss_time used;     /* its CPU time when it was continued */
    uint32_t wave;    /* see ss_descendants_settle() */
};

struct ss_descendants {
    struct ss_descendant *items; /* parents before their children */
    uint32_t count;
    uint32_t room;
    bool incomplete; /* memory was exhausted: only a sweep finds the others */
};

/* Adds a process, unless it is in the list or `started` is 0. */
void ss_descendants_add(struct ss_descendants *list, pid_t pid, uint64_t started);

/* Adds the children of a process, but not the process. */
void ss_descendants_add_children(struct ss_descendants *list, pid_t pid, uint64_t started);

/* Adds the known branches of a row. */
void ss_descendants_add_branches(
    struct ss_descendants *list, const struct ss_holds *holds, uint32_t row);

/*
 * Adds the descendants of the processes in the list. With `stop`, stops each process before it
 * lists its children, and looks again until no process has new ones.
 */
void ss_descendants_find(struct ss_descendants *list, bool stop);

/* Signals all processes in the list, children before their parents. */
void ss_descendants_signal(const struct ss_descendants *list, int signal);

/*
 * Watches the processes in the list after they have been continued, and continues those that are
 * stopped, until none is. If a group is stopped while one of its processes is in fork(), and is
 * continued before fork() returns, the kernel still stops the child. Therefore waits, within
 * limits, until each process has run or slept (wave 0), then each child that it has started until
 * then (wave 1).
 */
void ss_descendants_settle(struct ss_descendants *list);

void ss_descendants_close(struct ss_descendants *list);

#endif
