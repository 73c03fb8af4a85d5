/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_RUNNING_H
#define SSACTUATE_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>

#include "base/cpus.h"

#define SSACTUATE_RUNNING_MAX 2 /* process groups of a run */

/* A thread of a process group, identified by ID and start time. */
struct ssactuate_member {
    pid_t process, id;
    uint64_t started;      /* see ss_platform_thread_started() */
    struct ss_cpus before; /* affinity before the run */
    bool noted;            /* written to the journal */
    bool seen;             /* found by the last scan */
};

/* A process group that is already running, whose affinity is changed and later restored. */
struct ssactuate_running {
    pid_t group;
    struct ssactuate_member *members;
    size_t count, room;
    struct ss_cpus *affinities; /* affinities that the run may have set */
    size_t affinity_count, affinity_room;
    uint64_t used; /* CPU time of its processes at the last scan, in nanoseconds; 0 if `ended` */
    bool ended;
    bool reported; /* the restorer has reported affinities set by another program */
};

/*
 * Looks for new threads, and forgets threads that have ended. Returns false if the group has
 * exited, or if no known member is left: the ID may then belong to another group.
 *
 * A thread that starts with an affinity that the run has set has inherited it. Its affinity before
 * the run is taken from another thread of its process, its parent, or the oldest member of the
 * group.
 */
SS_NONNULL() bool ssactuate_running_scan(struct ssactuate_running *running);

/* Returns whether the run may have set this affinity. */
SS_MUST_USE SS_NONNULL() bool ssactuate_running_has_affinity(
    const struct ssactuate_running *running, const struct ss_cpus *cpus);

/* Adds an affinity that the run may set. Returns false if memory is exhausted. */
SS_MUST_USE SS_NONNULL() bool ssactuate_running_add_affinity(
    struct ssactuate_running *running, const struct ss_cpus *cpus);

/* Adds a member found in the journal. Returns false if memory is exhausted. */
SS_MUST_USE SS_NONNULL() bool ssactuate_running_add(
    struct ssactuate_running *running, const struct ssactuate_member *member);

/*
 * Sets the affinity of all members, and reads it back. If `cpus` is NULL, restores the affinity
 * that each had before.
 */
SS_MUST_USE SS_NONNULL(1, 3) int ssactuate_running_confine(
    struct ssactuate_running *running, const struct ss_cpus *cpus, struct ss_error *error);

/*
 * Restores the affinity of all members that still have an affinity set by the run. Members with any
 * other affinity keep it; `foreign_count` is set to their number.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_running_restore(
    struct ssactuate_running *running, size_t *foreign_count, struct ss_error *error);

SS_NONNULL() void ssactuate_running_free(struct ssactuate_running *running);

#endif
