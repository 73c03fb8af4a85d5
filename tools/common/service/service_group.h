/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVICE_SERVICE_GROUP_H
#define SERVICE_SERVICE_GROUP_H

/* Finds the control groups of services. `roots` may be NULL. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/contract.h>

#include "platform/platform.h"

struct service_group {
    const char *controller;          /* controller of its v1 hierarchy; NULL in v2 */
    char path[2048];                 /* in its hierarchy, such as /system.slice/nginx.service */
    char folder[SS_GROUP_PATH_SIZE]; /* folder with the file of the group's CPU time */
};

/*
 * Finds the group of a process, in version 2 if possible. Returns false unless the group may belong
 * to a service and counts CPU time. The root, slices, user sessions and the scopes of terminals are
 * not groups of services.
 */
SS_NONNULL(3)
bool service_group_of(
    const struct ss_platform_roots *roots, pid_t pid, struct service_group *group);

/* Returns whether the process is in the group or in one of its subgroups. */
SS_NONNULL(2)
bool service_group_has(
    const struct ss_platform_roots *roots, const struct service_group *group, pid_t pid);

/* Returns whether this process or one of its ancestors is in the group. */
SS_NONNULL(2)
bool service_group_has_us(const struct ss_platform_roots *roots, const struct service_group *group);

/* Returns whether this process is in the group that has the file `path`, or in a subgroup. */
SS_NONNULL(2) bool service_group_is_ours(const struct ss_platform_roots *roots, const char *path);

/*
 * Finds a group of version 2 by the number that the kernel reports for its sockets, which is the
 * inode of its folder. Returns false if the group is not found, or cannot belong to a service.
 */
SS_NONNULL(3)
bool service_group_by_number(
    const struct ss_platform_roots *roots, uint64_t number, struct service_group *group);

#endif
