/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUPS_LIMIT_GROUP_H
#define GROUPS_LIMIT_GROUP_H

#include "platform/platform.h"

/* Limits that this program can set on a control group. */

enum limit { LIMIT_QUOTA, LIMIT_CPUS, LIMIT_MEMORY, LIMIT_KINDS };

/* The group in the hierarchy of one limit. In version 2 all limits share one folder. */
struct limit_part {
    char folder[SS_GROUP_PATH_SIZE]; /* empty if the group lacks this limit */
    char home[SS_GROUP_PATH_SIZE];   /* where its processes move when the group is removed */
    bool unified;                    /* version 2 */
    bool made;                       /* the folder did not exist before */
};

struct limit_group {
    struct limit_part parts[LIMIT_KINDS];
    unsigned missing; /* version 2: limits whose controllers the parent must first
                         enable for its children */
    /* The group that the caller leaves for `caller_group`; empty if the caller stays. */
    char caller_home[SS_GROUP_PATH_SIZE];
    char caller_group[SS_GROUP_PATH_SIZE];
    bool named; /* made by limit_group_make_named() */
};

/*
 * Finds a place for a group PREFIX-PID with these limits (bits 1 << LIMIT_...), without creating
 * it. In version 1 the new group is below our own group. In version 2 it is below the nearest
 * group, from our own upward, that can enable controllers for its children. The search does not go
 * above a group with limits. If that group contains only the caller, limit_group_make() moves the
 * caller into a new child group until the limit group is removed, because a group with processes
 * cannot enable controllers. Fails if this process may not create such a group.
 */
SS_MUST_USE SS_NONNULL(1, 3) int limit_group_find(struct limit_group *group, unsigned limits,
    const char *prefix, const struct ss_platform_roots *roots, struct ss_error *error);

/*
 * Creates the group in the place that limit_group_find() found, after removing the groups of
 * processes that no longer exist.
 */
SS_MUST_USE SS_NONNULL(1) int limit_group_make(struct limit_group *group, struct ss_error *error);

/*
 * Creates a group with these limits and this name at the root of each limit's hierarchy, and of the
 * hierarchy that counts CPU time. Other programs find it by name. It stays until
 * named_group_remove(). In version 2 this enables the controllers for all children of the root.
 */
SS_MUST_USE SS_NONNULL(1, 3) int limit_group_make_named(struct limit_group *group, unsigned limits,
    const char *name, const struct ss_platform_roots *roots, struct ss_error *error);

/*
 * The next three functions set a limit that the group has, and read it back. They fail if the
 * kernel refuses the limit or keeps a different value.
 */

/* Limits the group to `cpus` CPUs, on average over each period; 0: no limit. */
SS_MUST_USE SS_NONNULL() int limit_group_set_quota(
    const struct limit_group *group, double cpus, ss_time period, struct ss_error *error);

/* Fails if an ancestor lacks one of the CPUs, even in version 2, where the kernel accepts that. */
SS_MUST_USE SS_NONNULL() int limit_group_set_cpus(
    const struct limit_group *group, const struct ss_cpus *cpus, struct ss_error *error);

/* Limits memory, in bytes, which the kernel rounds down to pages; 0: no limit. */
SS_MUST_USE SS_NONNULL() int limit_group_set_memory(
    const struct limit_group *group, uint64_t bytes, struct ss_error *error);

/* A file of a control group, and the value that sets a limit. */
struct limit_setting {
    const char *file;
    char value[80];
};

/*
 * Fills in the settings that limit a new group to `cpus` CPUs (0: no limit), to be written in this
 * order. Returns their number.
 */
#define LIMIT_QUOTA_SETTINGS 2
SS_MUST_USE SS_NONNULL() size_t limit_group_quota_settings(
    struct limit_setting settings[LIMIT_QUOTA_SETTINGS], bool unified, double cpus, ss_time period);

/* Called with the path of a file that limits a group, and with its value. */
typedef void limit_group_file_call(
    void *context, enum limit limit, const char *path, const char *value);

/* Calls `call` for each file that sets a limit of the group, with the file's current content. */
SS_NONNULL(1, 2)
void limit_group_files(const struct limit_group *group, limit_group_file_call *call, void *context);

/* Returns the version of control groups, 1 or 2, that supports a limit; 0 if neither does. */
int limit_group_version(enum limit limit, const struct ss_platform_roots *roots);

/* Returns how many bytes of memory the group uses; 0 if unknown. */
SS_NONNULL() uint64_t limit_group_memory(const struct limit_group *group);

/* Returns the tightest memory limit of our own group and its parents, in bytes; 0: no limit. */
uint64_t limit_group_inherited_memory(const struct ss_platform_roots *roots);

/*
 * Moves the caller into the group; may be called between fork and exec. Returns 0 or a negative
 * errno.
 */
SS_MUST_USE SS_NONNULL() int limit_group_enter(const struct limit_group *group);

/*
 * Removes the group, if it was created, and moves its processes to `home`. A caller that moved into
 * a child group returns. Returns 0 or a negative errno.
 */
SS_NONNULL() int limit_group_remove(struct limit_group *group);

/*
 * Removes the folder of a group and its subgroups, and moves their processes to `home`. Returns 0
 * or a negative errno.
 */
SS_MUST_USE SS_NONNULL() int limit_group_remove_folder(const char *folder, const char *home);

#endif
