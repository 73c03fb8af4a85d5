/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TRACE_TEXT_H
#define SHOWSTOPPER_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

struct ss_trace_record {
    ss_time time; /* since the trace's start */
    double load;  /* from 0 to 1; with `free`, the load before the stretch, 0 if it is the first */
    bool free;    /* uncontrolled from here to the next record */
};

/*
 * A trace in memory. Zeroed: an empty one. Times never decrease.
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

/*
 * Reads the text form. `name` stands in messages: "NAME:LINE:COLUMN: what was expected", with the
 * line itself in the same message. Status 2. Empty (no record) is an error, too.
 */
int ss_trace_text_read(
    FILE *stream, const char *name, struct ss_trace_records *records, struct ss_error *error);

#endif
