/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

int sstrace_pipeline_open(struct sstrace_pipeline *pipeline, const struct sstrace_request *request,
    struct ss_trace_sink *end, struct ss_error *error) {
    sstrace_stage_open_last(&pipeline->last, end);
    pipeline->first = &pipeline->last.sink;
    pipeline->begin = pipeline->count = request->transform_count;
    int result = 0;
    while (pipeline->begin > 0 && result == 0) {
        pipeline->begin--;
        struct sstrace_stage *stage = &pipeline->stages[pipeline->begin];
        result = sstrace_stage_open(
            stage, &request->transforms[pipeline->begin], pipeline->first, error);
        pipeline->first = &stage->sink;
    }
    if (result != 0)
        sstrace_pipeline_close(pipeline);
    return result;
}

void sstrace_pipeline_close(struct sstrace_pipeline *pipeline) {
    for (size_t i = pipeline->begin; i < pipeline->count; i++)
        sstrace_stage_close(&pipeline->stages[i]);
    pipeline->begin = pipeline->count;
}

static int take_nothing(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    (void)sink, (void)record, (void)error;
    return 0;
}

static int end_nothing(struct ss_trace_sink *sink, struct ss_error *error) {
    (void)sink, (void)error;
    return 0;
}

struct ss_trace_sink sstrace_nowhere(void) {
    return (struct ss_trace_sink){.take = take_nothing, .end = end_nothing};
}
