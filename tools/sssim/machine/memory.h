/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_MEMORY_H
#define SSSIM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

struct work;

/* The memory use of a thread that runs undisturbed. */
struct memory_use {
    double accesses; /* a second */
    double waiting;  /* part of its time that it waits for them, 0 to 1 */
};

/*
 * The pace of work at an instant: the CPU time that a runnable thread has in a nanosecond, and
 * what becomes of it. A thread that uses the memory works served - waiting * (lost - accesses *
 * back), any other one works `ran`. No pace depends on the thread, so a sum over time serves all.
 */
struct memory_pace {
    double ran;
    double served; /* the part of `ran` for which memory serves accesses */
    double lost;   /* times the part of the memory that all threads keep busy */
    double back;   /* times the part that each access a second keeps busy, which a thread does not
                      do to itself */
};

/* The threads of one trial. */
struct memory_side {
    struct work *work; /* follows the pace; NULL: there is no such side */
    double asked;      /* accesses a second of all runnable threads, if each had a CPU */
    double share;      /* of a CPU that each of them has */
    double beside;     /* while a thread runs, the part of each other one of its CPUs that runs */
    struct memory_pace pace;
};

#define MEMORY_SIDES 2

/*
 * The memory that all running threads share. Zeroed: one that nothing waits for.
 *
 * T accesses a second are asked for, and M are served at most. A thread works at the speed
 * z (1 - w u): z = min(1, M / T) is the part of all accesses that is served, w the part of its
 * undisturbed time that it waits, and u = z U / M the part of the memory that the other threads
 * keep busy with the U accesses a second that they ask for. It is linear in their traffic while
 * T <= M, so what a background costs is known.
 */
struct memory {
    double rate;      /* M; 0: no limit */
    bool shares_cpus; /* both sides run on the same CPUs */
    struct memory_side sides[MEMORY_SIDES];
};

/* From `now` on the threads of a side ask for so much, and have such a part of their CPUs. */
SS_NONNULL()
void memory_follow(
    struct memory *memory, int side, double asked, double share, double beside, ss_time now);

/* The work that `use` gets done in the time of these sums of a pace. */
SS_NONNULL()
double memory_work(const struct memory_use *use, const struct memory_pace *sums);

/* Two sides on CPUs of their own. */
struct memory_pair {
    double rate; /* as in struct memory */
    struct memory_use foreground;
    double foreground_threads;  /* that run at all times */
    double background_accesses; /* a second, of a running thread */
    double background_cpus;     /* that run threads when the background's load is 1 */
};

/*
 * The interference metric: by how many percent the foreground's throughput falls from an idle
 * background to one at full load. NaN: it is no line, as memory has not enough for all.
 */
SS_NONNULL()
double memory_interference(const struct memory_pair *pair);

#endif
