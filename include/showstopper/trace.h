/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TRACE_H
#define SHOWSTOPPER_TRACE_H

#include <stdbool.h>

#include <showstopper/module.h>

struct ss_target {
    double load;   /* from 0 to 1 */
    bool free;     /* no control now; `load` is the last load before the section */
    ss_time until; /* with `free`, the end of the section, since the trace's start */
};

struct ss_trace_module {
    struct ss_module head;

    /*
     * Sets the target at `time`, which counts from the trace's start. Called in every executor and
     * in the master, on the timing path: must not block or allocate. `time` may go back, but seldom
     * does. The target must depend on `time` alone, so that all processes get the same target at
     * the same time.
     */
    void (*target)(const struct ss_self *self, ss_time time, struct ss_target *target);

    /*
     * Optional. Returns the length of the trace, which must not be 0, or SS_TIME_NEVER if it has no
     * end. Called in the master.
     */
    ss_time (*length)(const struct ss_self *self);
};

struct ss_trace_record {
    ss_time time; /* since the trace's start; never SS_TIME_NEVER */
    double load;  /* from 0 to 1; with `free`, the last load before the section, or 0 */
    bool free;    /* uncontrolled from here to the next record */
};

/*
 * A trace in memory. Zero-initialized: empty.
 *
 * The load is interpolated between two records; two records with the same time make a step. Before
 * the first record and after the last, the load of that record holds. A `free` record begins a
 * section that lasts to the next record.
 */
struct ss_trace_records {
    struct ss_trace_record *items;
    size_t count;
    size_t capacity;
};

/*
 * Returns the number of records at or before `time`, by a binary search from `low` to `high`. All
 * records before `low` must be at or before `time`.
 */
static inline size_t ss_trace_count_until(
    const struct ss_trace_records *records, size_t low, size_t high, ss_time time) {
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (records->items[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the load at `time`, which must be between two consecutive records that are not a step. */
static inline double ss_trace_interpolate(
    const struct ss_trace_record *a, const struct ss_trace_record *b, ss_time time) {
    if (b->free)
        return a->load;
    double part = (double)(time - a->time) / (double)(b->time - a->time);
    return a->load + (b->load - a->load) * part;
}

/*
 * Returns the load at `time`, given that `count` records are at or before it. There must be at
 * least one record.
 */
static inline double ss_trace_load_of(
    const struct ss_trace_records *records, size_t count, ss_time time) {
    const struct ss_trace_record *record = &records->items[count > 0 ? count - 1 : 0];
    if (record->free || count == 0 || count == records->count)
        return record->load;
    return ss_trace_interpolate(record, record + 1, time);
}

/* Returns the time at which a loop of the trace restarts: after a leading `free` section. */
static inline ss_time ss_trace_loop_from(const struct ss_trace_records *records) {
    size_t first = 0;
    while (first + 1 < records->count && records->items[first].free)
        first++;
    return records->items[first].time;
}

#endif
