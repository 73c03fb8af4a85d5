/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_DEMAND_H
#define SSSIM_DEMAND_H

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "profile.h"

/*
 * The number of runnable threads of an instance over time. It advances only while the instance is
 * not stopped: a stop freezes the demand, too. The exception is a queue, whose work keeps arriving.
 */

enum demand_kind {
    DEMAND_SERIAL,   /* one thread that is always runnable */
    DEMAND_PARALLEL, /* a thread for each CPU, always runnable */
    DEMAND_BLOCKING,
    DEMAND_FORKING,
    DEMAND_QUEUE, /* one thread, which runs while work is waiting */
    DEMAND_PROFILE,
};

struct demand_class {
    enum demand_kind kind;
    struct profile profile; /* for DEMAND_PROFILE */
    double rate;     /* for DEMAND_QUEUE: CPU time of the work that arrives per unit of time */
    uint64_t weight; /* number of successive instances of this class */
};

/* Assigns classes to instances, in turn and by weight. Empty if zeroed. */
struct demand_mix {
    struct demand_class *classes;
    size_t count;
    uint64_t weight; /* sum of all weights */
};

/*
 * Parses "serial", "serial:3,parallel:1", "queue:70%" or "profile:FILE", and reads the files. Free
 * `mix` even on failure.
 */
SS_MUST_USE SS_NONNULL(1, 2) int demand_mix_parse(
    struct demand_mix *mix, const char *text, struct ss_error *error);

SS_NONNULL() void demand_mix_free(struct demand_mix *mix);

SS_NONNULL()
const struct demand_class *demand_mix_find(const struct demand_mix *mix, uint32_t instance);

/* The demand of one instance. */
struct demand {
    const struct demand_class *class;
    uint64_t random;              /* state of the random number generator */
    uint32_t width;               /* number of threads in the serial or parallel class */
    size_t phase;                 /* index in the table or profile of the class */
    uint32_t threads;             /* number of runnable threads */
    const struct memory_use *use; /* memory use of each thread; NULL for the default */
    ss_time left;                 /* running time until the demand changes; may be SS_TIME_NEVER */
    ss_time sharing_left;         /* how long its threads will still share one CPU */
    double backlog;               /* CPU time of the waiting work of a queue, nanoseconds */
};

/* Initializes the demand. Random numbers of different instances and seeds are independent. */
SS_NONNULL()
void demand_open(struct demand *demand, const struct demand_class *class, uint32_t cpus,
    uint64_t seed, uint32_t instance);

/* Continues after a stop. The threads of the blocking class may share one CPU at first. */
SS_NONNULL() void demand_resume(struct demand *demand);

/*
 * Adds the work that arrived for a queue while its instance was stopped. Call this before
 * demand_resume().
 */
SS_NONNULL() void demand_skip(struct demand *demand, ss_time stopped);

SS_NONNULL() void demand_next(struct demand *demand);

#endif
