/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_STAGES_H
#define SSTRACE_STAGES_H

/* Transformations: each receives a trace, record by record, and passes on another trace. */

#include <showstopper/contract.h>

#include "trace/record.h"
#include "trace_spool.h"

/* Generators and transformations refuse to make more records: that is most likely a mistake. */
#define SSTRACE_RECORDS_MAX 100000000

/* Comments list the members of struct sstrace_transform that a kind uses. */
enum sstrace_transform_kind {
    SSTRACE_SCALE,      /* factor */
    SSTRACE_LATER,      /* from */
    SSTRACE_CLIP,       /* from, to (SS_TIME_NEVER for the end of the trace) */
    SSTRACE_REPEAT,     /* count */
    SSTRACE_LOAD_SCALE, /* factor */
    SSTRACE_LOAD_CLAMP, /* min, max */
    SSTRACE_RESAMPLE,   /* step */
    SSTRACE_STEPS,
};

struct sstrace_transform {
    enum sstrace_transform_kind kind;
    double factor, min, max;
    uint64_t count;
    ss_time from, to, step;
};

struct sstrace_stage {
    struct ss_trace_sink sink;
    struct ss_trace_sink *next;
    struct sstrace_transform transform;
    struct ss_trace_record before; /* the previous record, if `any` */
    bool any;
    bool begun, done;           /* CLIP: the first record, or the last one, was passed on */
    struct sstrace_spool spool; /* REPEAT */
    ss_time window;             /* RESAMPLE: start of the current window */
    double work;                /* RESAMPLE: load times ns since `window` */
};

#define SSTRACE_TRANSFORMS_MAX 65

/*
 * A chain of transformations. The last stage refuses loads above 1 and unbounded times, and gives
 * every `free` record the previous load.
 */
struct sstrace_pipeline {
    struct ss_trace_sink *first; /* receives the records of the source */
    struct sstrace_stage last, stages[SSTRACE_TRANSFORMS_MAX];
    size_t count;
};

/* Opens a stage for each transformation, in order; the last one passes its output to `end`. */
SS_NONNULL()
void sstrace_pipeline_open(struct sstrace_pipeline *pipeline,
    const struct sstrace_transform *transforms, size_t count, struct ss_trace_sink *end);

SS_NONNULL() void sstrace_pipeline_close(struct sstrace_pipeline *pipeline);

/* Transformations of loads, in stages_load.c. */
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_take_clamp(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_take_steps(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_take_resample(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1) int sstrace_end_resample(
    struct ss_trace_sink *sink, struct ss_error *error);

static inline int sstrace_give(
    const struct sstrace_stage *stage, struct ss_trace_record record, struct ss_error *error) {
    return stage->next->take(stage->next, &record, error);
}

#endif
