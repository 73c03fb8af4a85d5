/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TRACE_RECORD_H
#define SHOWSTOPPER_TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/error.h>
#include <showstopper/time.h>
#include <showstopper/trace.h>

/*
 * Smaller values count as 0: written exactly without an exponent, they could have hundreds of
 * digits.
 */
#define SS_TRACE_LOAD_MIN 1e-9

/*
 * Receives records, one after another, in order of time. After the last record, the caller of the
 * function that sends the records calls `end` once. After either function has failed, neither is
 * called again. Embedded as the first member of a sink.
 */
struct ss_trace_sink {
    int (*take)(
        struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error);
    int (*end)(struct ss_trace_sink *sink, struct ss_error *error);
};

void ss_trace_records_free(struct ss_trace_records *records);

/*
 * Returns the load at a time since the start; NaN in a `free` section or without records. With
 * `loops` the trace starts again at its end, as the trace module `file` plays it.
 */
double ss_trace_load_at(const struct ss_trace_records *records, ss_time time, bool loops);

/* A sink that stores all records in memory. */
struct ss_trace_collector {
    struct ss_trace_sink sink;
    struct ss_trace_records *records;
};

struct ss_trace_collector ss_trace_collect(struct ss_trace_records *records);

#endif
