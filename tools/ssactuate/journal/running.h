/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_RUNNING_H
#define SSACTUATE_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>

#include "base/cpus.h"

#define SSACTUATE_RUNNING_MAX 2 /* process groups in a run */

/* A thread of a process group. ID and start time identify it. */
struct ssactuate_member {
    pid_t process, id;
    uint64_t started;      /* see ss_platform_thread_started() */
    struct ss_cpus before; /* its affinity before the run */
    bool noted;            /* it is in the journal */
    bool seen;             /* it existed at the latest look */
};

/* A process group that runs already, whose affinity is changed and turned back. */
struct ssactuate_running {
    pid_t group;
    struct ssactuate_member *members;
    size_t count, room;
    struct ss_cpus *given; /* what the run has set, to recognize it */
    size_t given_count, given_room;
    uint64_t used; /* CPU time of its processes at the latest look, in nanoseconds; 0 once ended */
    bool ended;
};

/*
 * Looks for new threads and forgets those that have ended. Returns false if the group has exited,
 * or if none of the members known so far is left: then the ID may belong to another group.
 *
 * A thread that began with an affinity that the run has set inherited it. Its affinity before is
 * that of another thread of its process, or of its parent, or of the group's oldest member.
 */
SS_NONNULL() bool ssactuate_running_look(struct ssactuate_running *running);

/* Returns whether the run has set this affinity. */
SS_NONNULL()
bool ssactuate_running_has_given(
    const struct ssactuate_running *running, const struct ss_cpus *cpus);

/* Adds an affinity that the run may set. Returns false if memory is exhausted. */
SS_MUST_USE SS_NONNULL() bool ssactuate_running_give(
    struct ssactuate_running *running, const struct ss_cpus *cpus);

/* Adds a member that the journal has. Returns false if memory is exhausted. */
SS_MUST_USE SS_NONNULL() bool ssactuate_running_add(
    struct ssactuate_running *running, const struct ssactuate_member *member);

/*
 * Sets the affinity of all members and reads it back; `cpus` NULL: of each what it was before.
 */
SS_MUST_USE SS_NONNULL(1, 3) int ssactuate_running_confine(
    struct ssactuate_running *running, const struct ss_cpus *cpus, struct ss_error *error);

/*
 * Returns the affinity before to all members that have what the run has set. `foreign` becomes the
 * number of members with another affinity, which they keep.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_running_restore(
    struct ssactuate_running *running, size_t *foreign, struct ss_error *error);

SS_NONNULL() void ssactuate_running_free(struct ssactuate_running *running);

#endif
