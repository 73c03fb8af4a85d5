/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_MEMORY_H
#define SSSIM_MEMORY_H

#include <showstopper/contract.h>

struct work;

/* The memory use of a thread that runs undisturbed. */
struct memory_use {
    double accesses; /* accesses per second */
    double waiting;  /* fraction of its time that it waits for accesses */
};

/*
 * The pace of work: the CPU time that a runnable thread gets per nanosecond, and its effect. A
 * thread that uses the memory does served - waiting * (lost - accesses * back) of work; any other
 * thread does `ran`. Paces do not depend on the thread, so their sum over time applies to all
 * threads.
 */
struct memory_pace {
    double ran;
    double served; /* `ran` times the fraction of accesses that is served */
    double lost;   /* `served` times the utilization of the memory by all threads */
    double back;   /* `served` times the utilization per access per second; subtracted, because a
                      thread does not delay itself */
};

/* The threads of one trial. */
struct memory_side {
    struct work *work; /* the work that has this pace; NULL if this side is absent */
    double demanded;   /* accesses per second of all runnable threads if each had a CPU */
    double share;      /* fraction of a CPU that each of them gets */
    double overlap;    /* fraction of a thread's time in which another given thread of this side
                         runs, too */
    struct memory_pace pace;
};

#define MEMORY_SIDES 2

/*
 * The memory that all running threads share. If zeroed, accesses take no time.
 *
 * T accesses per second are demanded, and at most M are served. A thread works at the speed z (1 -
 * w u), where z = min(1, M / T) is the fraction of accesses that is served, w the fraction of its
 * undisturbed time that it waits, and u = z U / M the utilization by other threads, which demand U
 * accesses per second. The speed is linear in their traffic while T <= M, so the slowdown by a
 * background is known in advance.
 */
struct memory {
    double rate; /* M; 0 for no limit */
    struct memory_side sides[MEMORY_SIDES];
};

/* Returns the pace of a side that follows from the demand of both. */
SS_NONNULL() struct memory_pace memory_pace(const struct memory *memory, int side);

/* Returns the work of a thread with this memory use, given the pace summed over the time. */
SS_NONNULL() double memory_work(const struct memory_use *use, const struct memory_pace *sums);

#endif
