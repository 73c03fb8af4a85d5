/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_DEMAND_H
#define SSSIM_DEMAND_H

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "profile.h"

/*
 * How many of an instance's threads are runnable over time. Its time is that in which it is
 * not stopped: what it would do next is frozen with it.
 */

enum demand_kind {
    DEMAND_SERIAL,   /* one thread, always runnable */
    DEMAND_PARALLEL, /* as many as CPUs, always runnable */
    DEMAND_BLOCKING,
    DEMAND_FORKING,
    DEMAND_PROFILE,
};

struct demand_class {
    enum demand_kind kind;
    struct profile profile; /* of DEMAND_PROFILE */
    uint64_t weight;        /* so many instances in a row */
};

/* Which class is whose: in turn, by weight. Zeroed: an empty one. */
struct demand_mix {
    struct demand_class *classes;
    size_t count;
    uint64_t weight; /* of all together */
};

/* "serial", "serial:3,parallel:1", "profile:FILE": reads the files, too. */
SS_MUST_USE SS_NONNULL(1, 2) int demand_mix_parse(
    struct demand_mix *mix, const char *text, struct ss_error *error);

SS_NONNULL()
void demand_mix_free(struct demand_mix *mix);

SS_NONNULL()
const struct demand_class *demand_mix_find(const struct demand_mix *mix, uint32_t instance);

/* One instance's. */
struct demand {
    const struct demand_class *class;
    uint64_t random;              /* state of a generator of its own */
    uint32_t width;               /* threads of a serial or parallel one */
    size_t phase;                 /* in the class's table or profile */
    uint32_t threads;             /* that are runnable now */
    const struct memory_use *use; /* what each wants of the memory now; NULL: what all want */
    ss_time left;     /* of running time, until that changes; SS_TIME_NEVER: it does not */
    ss_time gathered; /* for so long its threads share one CPU */
};

/* The sequences of two instances, and those of two seeds, have nothing in common. */
SS_NONNULL()
void demand_open(struct demand *demand, const struct demand_class *class, uint32_t cpus,
    uint64_t seed, uint32_t instance);

/*
 * Continues after a stop. At first its threads may share one CPU: those of a parallel one for up
 * to `start_lateness`.
 */
SS_NONNULL()
void demand_resume(struct demand *demand, ss_time start_lateness);

/* Goes on to the next stretch. */
SS_NONNULL()
void demand_next(struct demand *demand);

#endif
