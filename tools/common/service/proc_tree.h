/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVICE_PROC_TREE_H
#define SERVICE_PROC_TREE_H

/* Reads processes from /proc, or from a recorded copy of it. `roots` may be NULL: /proc. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <showstopper/contract.h>

#include "platform/platform.h"

static inline const char *proc_tree_root(const struct ss_platform_roots *roots) {
    return roots && roots->proc ? roots->proc : "/proc";
}

struct proc_tree_process {
    pid_t parent;
    char state;  /* as `ps` shows it */
    bool kernel; /* a kernel thread */
};

/* Returns false if the process does not exist. */
SS_NONNULL(3)
bool proc_tree_read(
    const struct ss_platform_roots *roots, pid_t pid, struct proc_tree_process *process);

/* Returns the name as `ps` shows it; "?" if it cannot be read. */
struct proc_tree_name {
    char text[SS_PROCESS_NAME_SIZE];
};
struct proc_tree_name proc_tree_name(const struct ss_platform_roots *roots, pid_t pid);

/* Reads a link such as "exe". Returns false if it does not exist or may not be read. */
SS_NONNULL(3)
SS_WRITES(4, 5)
bool proc_tree_link(
    const struct ss_platform_roots *roots, pid_t pid, const char *name, char *target, size_t size);

/* Calls `visit` for all processes, in no particular order. */
SS_NONNULL(2)
void proc_tree_each(
    const struct ss_platform_roots *roots, void (*visit)(void *context, pid_t pid), void *context);

/* Returns whether `pid` is `ancestor` or one of its descendants. */
bool proc_tree_is_below(const struct ss_platform_roots *roots, pid_t pid, pid_t ancestor);

#endif
