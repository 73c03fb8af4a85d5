/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_WORK_H
#define SSSIM_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "memory.h"

/*
 * The varying speed of a machine: constant within windows of equal length, lognormal with mean 1,
 * and autoregressive between windows. Two trials with the same options have the same speed at the
 * same time.
 */

struct speed_options {
    double deviation;   /* standard deviation of the speed; 0 if constant */
    double correlation; /* between logarithms of the speeds in successive windows, 0 to below 1 */
    double launch;      /* standard deviation of a factor that an instance keeps for its life */
    ss_time window;     /* length of a window; above 0 if `deviation` is */
    ss_time uptime;     /* time for which the machine ran before the trial */
    uint64_t seed;
};

struct speed {
    struct speed_options options;
    uint64_t random; /* state of the random number generator */
    double normal;   /* logarithm of the speed, in standard deviations */
    double factor;   /* speed in this window */
    ss_time until;   /* end of this window; SS_TIME_NEVER if the speed is constant */
};

/* Opens the speed for a trial that starts at `start`. */
SS_NONNULL()
void speed_open(struct speed *speed, const struct speed_options *options, ss_time start);

SS_NONNULL() void speed_next(struct speed *speed);

#define CORES_STEPS_MAX 64

/* The speed while at most this many cores are busy. */
struct cores_step {
    double cores;
    double speed;
};

/*
 * The speed of busy CPUs. Pairs of CPUs may be hardware threads of a core, and the frequency may
 * depend on the number of busy cores. If zeroed, every CPU is a core of speed 1.
 */
struct cores {
    double gain; /* work of two busy threads of a core relative to one, 1 to 2; 0 without pairs */
    bool overlaps_at_random; /* busy CPUs are chosen at random; otherwise they fill cores first */
    struct cores_step
        steps[CORES_STEPS_MAX]; /* ordered by cores; beyond the last one, the speed is 1 */
    size_t step_count;
};

/* Parses steps: "2:1.3,4:1.15" is 1.3 for up to two busy cores, 1.15 for three or four. */
SS_MUST_USE SS_NONNULL(1, 2) int cores_parse_steps(
    struct cores *cores, const char *text, struct ss_error *error);

/*
 * Returns the mean work of a busy CPU per unit of time while `busy` CPUs are busy: with 1.5, one
 * CPU all the time and another one half of the time.
 */
SS_NONNULL() double cores_speed(const struct cores *cores, double cpus, double busy);

/* The work of instances, which follows the state of the machine and does not affect it. */

struct work_options {
    ss_time iteration;          /* CPU time of an undisturbed iteration; 0 to not count work */
    double noise;               /* standard deviation of its length, relative to the mean */
    struct memory_use use;      /* memory use of each thread, unless the profile has its own */
    struct speed_options speed; /* speed of the machine and of the instances */
};

/* The pace, summed from the beginning to a time, in nanoseconds. */
struct work_point {
    ss_time time;
    struct memory_pace sums;
};

struct work_instance {
    uint32_t threads; /* number of runnable threads */
    struct memory_use use;
    uint64_t random;        /* state of the random number generator */
    double slowness;        /* factor for the length of all iterations */
    ss_time began;          /* start of the current iteration */
    double length;          /* length of the iteration in nanoseconds of undisturbed CPU time */
    double left;            /* the part of `length` that is left at `seen` */
    struct work_point seen; /* work is complete up to this point */
};

struct work_iteration {
    ss_time start, end;
    uint32_t instance;
};

/*
 * Counts iterations. Their ends are found afterwards, by a search through the points at which the
 * pace changed, so that the cost of a change does not depend on the number of instances. If
 * zeroed, work is not counted.
 */
struct work {
    struct work_options options;
    struct memory *memory;
    int side;       /* index in `memory->sides` */
    uint32_t count; /* number of instances; 0 if work is not counted */
    struct work_instance *instances;
    struct speed speed;        /* speed of the machine */
    double demanded;           /* accesses per second if each runnable thread had a CPU */
    struct work_point last;    /* the last change of the pace */
    struct work_point *points; /* changes since the last collection, the oldest one first */
    size_t point_count;
    struct work_iteration *ended; /* iterations that have ended and were not collected yet */
    size_t ended_count, ended_room;
    bool failed; /* memory was exhausted, so iterations are missing */
};

/* Opens the work: all instances begin their first iteration, without runnable threads. */
SS_MUST_USE SS_NONNULL(1, 2) int work_open(struct work *work, const struct work_options *options,
    uint32_t instances, uint64_t seed, ss_time start, struct ss_error *error);

/*
 * Connects the work to a memory. Call this once, after work_open(); neither may be moved
 * afterwards.
 */
SS_NONNULL() void work_attach(struct work *work, struct memory *memory, int side);

SS_NONNULL() void work_close(struct work *work);

/* Sets the runnable threads of an instance and their memory use; NULL for that of the options. */
SS_NONNULL(1)
void work_set_threads(struct work *work, uint32_t instance, uint32_t threads,
    const struct memory_use *use, ss_time now);

/* Sets the state of the machine from `now`, see struct memory_side. */
SS_NONNULL() void work_set_share(struct work *work, double share, double overlap, ss_time now);

/*
 * Calls `report` for all iterations that ended since the last call, ordered by end. Fails if memory
 * is exhausted.
 */
SS_MUST_USE SS_NONNULL(1, 3) int work_collect(struct work *work, ss_time now,
    void (*report)(void *context, uint32_t instance, ss_time start, ss_time end), void *context,
    struct ss_error *error);

/*
 * Returns the sum of the parts of current iterations that were done since `from`. Call this right
 * after work_collect().
 */
SS_NONNULL() double work_under_way(const struct work *work, ss_time from);

#endif
