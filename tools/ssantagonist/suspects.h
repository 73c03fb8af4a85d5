/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_SUSPECTS_H
#define SSANTAGONIST_SUSPECTS_H

/* The processes to throttle, each with all of its descendants. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "platform/platform.h"

struct suspect {
    pid_t pid;
    uint64_t started; /* see ss_platform_process_started() */
    char name[SS_PROCESS_NAME_SIZE];
};

/* Zeroed: an empty list. */
struct suspects {
    struct suspect *items;
    size_t count, room;
};

/* Adds processes of a list such as 812,900. */
SS_MUST_USE SS_NONNULL() int suspects_add(
    struct suspects *suspects, const char *pids, struct ss_error *error);

/* Adds suspects of a study that has begun, from lists such as 812@5,900@7 and sleep,make. */
SS_MUST_USE SS_NONNULL() int suspects_add_known(
    struct suspects *suspects, const char *pids, const char *names, struct ss_error *error);

/* Prints the suspects as CSV: pid, started and name. */
SS_NONNULL() void suspects_print(const struct suspects *suspects, FILE *stream);

/*
 * Adds the processes of a control group, a path below /sys/fs/cgroup, and of its subgroups. Skips
 * processes with an ancestor among these, because a suspect includes its descendants.
 */
SS_MUST_USE SS_NONNULL() int suspects_add_group(
    struct suspects *suspects, const char *group, struct ss_error *error);

/*
 * Fails if a suspect must not be throttled: the victim, its relatives, this process, its ancestors,
 * processes with real-time priority, those that the system depends on, the programs that measure a
 * victim, and processes with such descendants. `victims` are the processes of the victim. Also
 * fails if a suspect has exited, is given twice, or is an ancestor of another.
 */
SS_MUST_USE SS_NONNULL() int suspects_check(
    const struct suspects *suspects, const struct suspects *victims, struct ss_error *error);

/*
 * Adds the processes that listen on the port of a URL on this machine. Finds only processes that
 * this user may examine.
 */
SS_MUST_USE SS_NONNULL() int suspects_add_listeners(
    struct suspects *victims, const char *url, struct ss_error *error);

/* Adds the processes that have a file open. Finds only processes that this user may examine. */
SS_NONNULL() void suspects_add_users(struct suspects *victims, const char *file);

SS_NONNULL() void suspects_free(struct suspects *suspects);

#endif
