/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_STAGES_H
#define SSTRACE_STAGES_H

/* Transformations: each takes a trace record by record and gives another one on. */

#include <showstopper/contract.h>

#include "spool.h"
#include "trace/record.h"

enum sstrace_transform_kind {
    SSTRACE_SCALE,      /* factor */
    SSTRACE_LATER,      /* from */
    SSTRACE_CLIP,       /* from, to (SS_TIME_NEVER: up to the end) */
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
    struct sstrace_transform how;
    struct ss_trace_record before; /* the one taken last, if there was `any` */
    bool any;
    bool begun, done;           /* CLIP: something was given on; nothing more will be */
    struct sstrace_spool spool; /* REPEAT */
    ss_time window;             /* RESAMPLE: where it began, `covered` ns of it free of `free` */
    double work;                /* RESAMPLE: load times ns since then */
};

/* Its output goes to `next`, and its end ends that. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int sstrace_stage_open(struct sstrace_stage *stage,
    const struct sstrace_transform *how, struct ss_trace_sink *next, struct ss_error *error);

SS_NONNULL()
void sstrace_stage_close(struct sstrace_stage *stage);

/*
 * Behind all others: refuses loads above 1 and times without end, and lets every `free` stretch
 * know the load before it.
 */
SS_NONNULL()
void sstrace_stage_open_last(struct sstrace_stage *stage, struct ss_trace_sink *next);

/* The loads' own, in stages_load.c. */
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
