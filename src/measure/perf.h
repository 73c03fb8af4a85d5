/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_PERF_H
#define SHOWSTOPPER_MEASURE_PERF_H

#include <stdio.h>

#include <showstopper/contract.h>

#include "platform/platform.h"

/* One event of a thread and its descendants. */
struct ss_perf_source {
    enum ss_perf_event event;
    int descriptor;
    struct ss_perf_count last;
};

/* Counts events of threads and adds them up. Initialize it to zero, except `calls`. */
struct ss_perf_meter {
    const struct ss_perf_calls *calls;
    struct ss_perf_source *sources;
    size_t count, room;
    bool has[SS_PERF_EVENTS];       /* the event is counted for at least one thread */
    bool user_only[SS_PERF_EVENTS]; /* the count excludes the kernel */
    int err[SS_PERF_EVENTS]; /* negative errno of the last thread whose event could not be opened; 0
                                if none */
    size_t uncounted;        /* number of threads that are not fully counted for lack of
                                descriptors */
};

/* Names of columns in counters.csv. */
extern const char *const ss_perf_names[SS_PERF_EVENTS];

/*
 * Counts the events of this thread (0 is the caller) and its descendants from now on, or with
 * `after_exec` only once they execute a program. Skips events that cannot be counted. Returns -1 if
 * memory is exhausted.
 */
SS_MUST_USE int ss_perf_add(struct ss_perf_meter *meter, pid_t thread, bool after_exec);

/*
 * Sets `counts` to the number of each event since the previous call, or since counting began; the
 * task clock is in nanoseconds. If the machine has fewer counters than events, each event is
 * counted for part of the time and extrapolated. NaN if it is not counted, or had no counter since
 * the previous call; the next call then covers both intervals.
 */
void ss_perf_read(struct ss_perf_meter *meter, double counts[SS_PERF_EVENTS]);

/*
 * Explains which events are not or not fully counted: each call prints one reason and its events,
 * and advances `*at`, which starts at 0. Returns false if there are no more reasons.
 */
SS_WRITES(3, 4)
bool ss_perf_explain(const struct ss_perf_meter *meter, int *at, char *buffer, size_t size);

void ss_perf_close(struct ss_perf_meter *meter);

#endif
