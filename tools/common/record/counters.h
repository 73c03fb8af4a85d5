/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_COUNTERS_H
#define RECORD_COUNTERS_H

/* Hardware and kernel counters of a run's instances, sampled once a second. */

#include <stddef.h>

#include <showstopper/error.h>

enum ssreport_counter {
    SSREPORT_INSTRUCTIONS,
    SSREPORT_CYCLES,
    SSREPORT_STALLED_FRONTEND, /* cycles */
    SSREPORT_STALLED_BACKEND,  /* cycles */
    SSREPORT_L1D_REFERENCES,
    SSREPORT_L1D_MISSES,
    SSREPORT_CACHE_REFERENCES, /* accesses to the last-level cache */
    SSREPORT_CACHE_MISSES,
    SSREPORT_PAGE_FAULTS,
    SSREPORT_CONTEXT_SWITCHES,
    SSREPORT_MIGRATIONS,
    SSREPORT_TASK_CLOCK, /* seconds of CPU time */
    SSREPORT_L2_REFERENCES,
    SSREPORT_L2_MISSES,
    SSREPORT_COUNTERS,
};

struct ssreport_second {
    double begin, end;                /* seconds on the run's clock */
    double runnable;                  /* runnable threads on the machine; NaN if unknown */
    double counts[SSREPORT_COUNTERS]; /* sum over all instances; NaN if not counted */

    /*
     * Start of the time that each value covers: earlier than `begin` if previous rows lack the
     * counter.
     */
    double since[SSREPORT_COUNTERS];
};

struct ssreport_counters {
    struct ssreport_second *seconds;
    size_t count, capacity;
};

struct ssreport_record;

/*
 * Reads counters.csv of a record whose events have been read. Returns -1 with the error set if it
 * is missing or unreadable.
 */
int ssreport_counters_read(struct ssreport_record *record, struct ss_error *error);

void ssreport_counters_free(struct ssreport_counters *counters);

/* Sums of the rows between two times on the run's clock. */
struct ssreport_counted {
    size_t rows;
    double seconds;                 /* time that the rows cover, without pauses */
    double runnable;                /* mean number of runnable threads; NaN if unknown */
    double sums[SSREPORT_COUNTERS]; /* NaN if no row has the counter */

    /* Seconds in which each counter was counted; in the rest of `seconds` its value is unknown. */
    double known[SSREPORT_COUNTERS];
};

struct ssreport_counted ssreport_counters_between(
    const struct ssreport_counters *counters, double from, double to);

/* Returns events per second in the time in which the counter was counted; NaN if never. */
double ssreport_counted_rate(const struct ssreport_counted *counted, enum ssreport_counter counter);

/*
 * Returns the ratio of two counters, such as instructions per cycle; NaN if one is not counted, or
 * the divisor is 0.
 */
double ssreport_counted_share(
    const struct ssreport_counted *counted, enum ssreport_counter one, enum ssreport_counter other);

#endif
