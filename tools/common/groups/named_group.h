/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUPS_NAMED_GROUP_H
#define GROUPS_NAMED_GROUP_H

#include "platform/platform.h"

/*
 * The next four functions find a group by name in all hierarchies. Other programs may have created
 * subgroups in it.
 */

/*
 * Moves a process into the group or, if `peer` is not 0, into the subgroups that contain process
 * `peer`. Returns in how many hierarchies it joined a group, or a negative errno.
 */
SS_MUST_USE SS_NONNULL() int named_group_join(
    const char *name, pid_t peer, pid_t pid, const struct ss_platform_roots *roots);

/* Returns a process in the group that is PID 1 of a container's PID namespace; 0 if absent. */
SS_NONNULL() pid_t named_group_init_pid(const char *name, const struct ss_platform_roots *roots);

SS_NONNULL() bool named_group_exists(const char *name, const struct ss_platform_roots *roots);

/*
 * Kills the processes in the group and removes it. Returns 0 if nothing is left, or -EBUSY after
 * `patience`.
 */
SS_MUST_USE SS_NONNULL() int named_group_remove(
    const char *name, ss_time patience, const struct ss_platform_roots *roots);

/* Writes the path of the group that counts the CPU time of a process. Returns -1 if unknown. */
SS_MUST_USE SS_WRITES(2, 3) int named_group_accounting_path(
    pid_t pid, char *path, size_t size, const struct ss_platform_roots *roots);

#endif
