/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_PERF_H
#define SHOWSTOPPER_MEASURE_PERF_H

#include <stdio.h>

#include <showstopper/contract.h>

#include "platform/platform.h"

/* One event of one thread and of what comes from it. */
struct ss_perf_source {
    enum ss_perf_event event;
    int descriptor;
    struct ss_perf_count last;
};

/* Counts events of threads and adds them up. Zeroed: none. */
struct ss_perf_meter {
    const struct ss_perf_calls *calls;
    struct ss_perf_source *sources;
    size_t count, room;
    bool has[SS_PERF_EVENTS];       /* it is counted, of one thread at least */
    bool user_only[SS_PERF_EVENTS]; /* it does not count what happens in the kernel */
    int why[SS_PERF_EVENTS];        /* the negative errno of the last thread that it could not be
                                       counted of; 0: there was none */
    size_t left;                    /* threads that are not counted for want of descriptors */
};

/* Their columns in counters.csv. */
extern const char *const ss_perf_names[SS_PERF_EVENTS];

/*
 * Counts from now on what this thread (0: the caller) and all that come from it do, or with
 * `after_exec` only those that execute a program. An event that cannot be counted is left out.
 * Returns -1 without memory.
 */
SS_MUST_USE int ss_perf_add(struct ss_perf_meter *meter, pid_t thread, bool after_exec);

/*
 * How often each event has happened since the last call, or since counting began; the task clock
 * in nanoseconds. Where the machine has fewer counters than there are events, it counts each of
 * them part of the time, and that is extrapolated. NaN: it is not counted, or had no counter since
 * the last call; the next call then covers both times.
 */
void ss_perf_read(struct ss_perf_meter *meter, double counts[SS_PERF_EVENTS]);

/*
 * Why events are not counted, or not as a whole: each call prints one reason and the events that it
 * holds for. `at` begins at 0 and is moved on. False: there are no more.
 */
SS_WRITES(3, 4)
bool ss_perf_explain(const struct ss_perf_meter *meter, int *at, char *buffer, size_t size);

void ss_perf_close(struct ss_perf_meter *meter);

#endif
