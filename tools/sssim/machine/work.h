/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_WORK_H
#define SSSIM_WORK_H

#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "memory.h"

/* The work of instances. It follows the machine and has no effect on it. */

struct work_options {
    ss_time iteration;     /* CPU time of an iteration, undisturbed; 0: no work is counted */
    double noise;          /* standard deviation of its length, part of the mean */
    struct memory_use use; /* of every thread, unless its profile says something else */
};

/* The paces since the beginning, added up to a moment: nanoseconds. */
struct work_point {
    ss_time time;
    struct memory_pace sums;
};

struct work_instance {
    uint32_t threads; /* runnable ones */
    struct memory_use use;
    uint64_t random;        /* state of a generator of its own */
    ss_time began;          /* its present iteration */
    double length;          /* of it, nanoseconds of undisturbed CPU time */
    double left;            /* of that, from `seen` on */
    struct work_point seen; /* all up to here is accounted for */
};

struct work_iteration {
    ss_time start, end;
    uint32_t instance;
};

/*
 * Iterations are found afterwards, by a search through the points at which the pace changed, so
 * that a change costs the same for one instance as for a thousand. Zeroed: none is counted.
 */
struct work {
    struct work_options options;
    struct memory *memory;
    int side;       /* of the memory */
    uint32_t count; /* instances; 0: no work is counted */
    struct work_instance *instances;
    double asked;              /* accesses a second, if each runnable thread had a CPU */
    struct work_point last;    /* when the pace changed last */
    struct work_point *points; /* when it changed since the last collection; the oldest first */
    size_t point_count;
    struct work_iteration *ended; /* and not yet collected */
    size_t ended_count, ended_room;
    bool failed; /* for want of memory: something is missing */
};

/* All instances begin their first iteration, and none has a runnable thread. */
SS_MUST_USE SS_NONNULL(1, 2) int work_open(struct work *work, const struct work_options *options,
    uint32_t instances, uint64_t seed, ss_time start, struct ss_error *error);

/* Once, right after it was opened. Both must stay where they are. */
SS_NONNULL()
void work_attach(struct work *work, struct memory *memory, int side);

SS_NONNULL()
void work_close(struct work *work);

/* The runnable threads of an instance, and what they use; NULL: what the options say. */
SS_NONNULL(1)
void work_set_threads(struct work *work, uint32_t instance, uint32_t threads,
    const struct memory_use *use, ss_time now);

/* The machine's state from now on: see struct memory_side. */
SS_NONNULL()
void work_follow(struct work *work, double share, double beside, ss_time now);

/* The pace is about to change. */
SS_NONNULL()
void work_mark(struct work *work, ss_time now);

/*
 * Tells all iterations that have ended since the last call, in the order of their ends. Fails
 * without memory.
 */
SS_MUST_USE SS_NONNULL(1, 3) int work_collect(struct work *work, ss_time now,
    void (*tell)(void *context, uint32_t instance, ss_time start, ss_time end), void *context,
    struct ss_error *error);

/*
 * Right after a collection: the part since `from` of the iterations that are under
 * way, each as a part of 1.
 */
SS_NONNULL()
double work_under_way(const struct work *work, ss_time from);

#endif
