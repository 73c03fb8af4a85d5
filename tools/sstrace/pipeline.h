/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_PIPELINE_H
#define SSTRACE_PIPELINE_H

/* The transformations of a command line, as a chain of stages. */

#include <showstopper/contract.h>

#include "stages.h"
#include "trace_options.h"

struct sstrace_pipeline {
    struct ss_trace_sink *first; /* the sink of the source */
    struct sstrace_stage last, stages[SSTRACE_TRANSFORMS_MAX];
    size_t begin, count; /* the stages from `begin` up to `count` are open */
};

/* Builds the stages, beginning with the last one, which gives its output to `end`. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int sstrace_pipeline_open(struct sstrace_pipeline *pipeline,
    const struct sstrace_request *request, struct ss_trace_sink *end, struct ss_error *error);

SS_NONNULL()
void sstrace_pipeline_close(struct sstrace_pipeline *pipeline);

/* Returns a sink that drops what it receives. */
struct ss_trace_sink sstrace_nowhere(void);

#endif
