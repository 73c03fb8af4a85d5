/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TRACE_RECORD_H
#define SHOWSTOPPER_TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

/* A trace that is bad, wherever it comes from. */
#define SS_TRACE_STATUS 2

/* What is less is none; so few decimals say every load exactly. */
#define SS_TRACE_LOAD_LEAST 1e-9

struct ss_trace_record {
    ss_time time; /* since the trace's start; never SS_TIME_NEVER */
    double load;  /* from 0 to 1; with `free`, the load before the stretch, 0 if it is the first */
    bool free;    /* uncontrolled from here to the next record */
};

/*
 * Where records go, one after the other; times never decrease. Who has taken them all is told once
 * by `end`. Both may fail, and then nothing more is given. Embedded as first member in what takes.
 */
struct ss_trace_sink {
    int (*take)(
        struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error);
    int (*end)(struct ss_trace_sink *sink, struct ss_error *error);
};

/*
 * A trace in memory. Zeroed: an empty one.
 *
 * Between two records the load is interpolated; two records of one time make a step. Before the
 * first record its load holds, after the last one its load. A `free` record begins a stretch that
 * lasts to the next record.
 */
struct ss_trace_records {
    struct ss_trace_record *items;
    size_t count;
    size_t capacity;
};

void ss_trace_records_free(struct ss_trace_records *records);

/* A sink that keeps all in memory. */
struct ss_trace_collector {
    struct ss_trace_sink sink;
    struct ss_trace_records *records;
};

struct ss_trace_collector ss_trace_collect(struct ss_trace_records *records);

/* The load at `time`, which lies between two records that follow each other; not in a step. */
double ss_trace_interpolate(
    const struct ss_trace_record *a, const struct ss_trace_record *b, ss_time time);

#endif
