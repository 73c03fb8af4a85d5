/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_COUNTERS_H
#define SSREPORT_COUNTERS_H

/* What the hardware and the kernel counted of a run's instances, once a second. */

#include <stddef.h>

#include <showstopper/error.h>

#include "record_warnings.h"

enum ssreport_counter {
    SSREPORT_INSTRUCTIONS,
    SSREPORT_CYCLES,
    SSREPORT_STALLED_FRONTEND, /* cycles */
    SSREPORT_STALLED_BACKEND,  /* cycles */
    SSREPORT_L1D_REFERENCES,
    SSREPORT_L1D_MISSES,
    SSREPORT_CACHE_REFERENCES, /* of the last level */
    SSREPORT_CACHE_MISSES,
    SSREPORT_PAGE_FAULTS,
    SSREPORT_CONTEXT_SWITCHES,
    SSREPORT_MIGRATIONS,
    SSREPORT_TASK_CLOCK, /* seconds of CPU time */
    SSREPORT_COUNTERS,
};

struct ssreport_second {
    double begin, end;                /* seconds, elapsed */
    double runnable;                  /* threads of the machine; NaN: not known */
    double counts[SSREPORT_COUNTERS]; /* of all instances together; NaN: not counted */

    /* From when on each was counted: before `begin` if it is missing in rows before this one. */
    double since[SSREPORT_COUNTERS];
};

struct ssreport_counters {
    struct ssreport_second *seconds;
    size_t count, capacity;
};

/* From counters.csv in a folder. -1, with the error set: there is none, or it cannot be read. */
int ssreport_counters_read(struct ssreport_counters *counters, const char *folder,
    struct ssreport_notes *notes, struct ss_error *error);

void ssreport_counters_free(struct ssreport_counters *counters);

/* The rows that lie between two times, elapsed, added up. */
struct ssreport_counted {
    size_t rows;
    double seconds;                 /* that these rows cover */
    double runnable;                /* mean; NaN: not known */
    double sums[SSREPORT_COUNTERS]; /* NaN: not counted in any row */

    /* Seconds for which each was counted: a time without a counter is unknown, not 0. */
    double known[SSREPORT_COUNTERS];
};

struct ssreport_counted ssreport_counters_between(
    const struct ssreport_counters *counters, double from, double to);

/* Of one counter, a second. NaN: it was not counted. */
double ssreport_counted_rate(const struct ssreport_counted *counted, enum ssreport_counter counter);

/*
 * One for each of another, as instructions for each cycle. NaN: one of them was not counted, or the
 * other one is 0.
 */
double ssreport_counted_share(
    const struct ssreport_counted *counted, enum ssreport_counter one, enum ssreport_counter other);

#endif
