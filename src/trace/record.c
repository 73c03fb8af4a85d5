/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/record.h"

#include <stdlib.h>

#include "base/grow.h"

void ss_trace_records_free(struct ss_trace_records *records) {
    free(records->items);
    *records = (struct ss_trace_records){0};
}

static int collect(
    struct ss_trace_sink *sink, const struct ss_trace_record *record, struct ss_error *error) {
    struct ss_trace_records *records = ((struct ss_trace_collector *)sink)->records;
    if (!SS_GROW(records->items, records->count + 1, records->capacity))
        return ss_error_memory(error);
    records->items[records->count++] = *record;
    return 0;
}

static int end_collecting(struct ss_trace_sink *sink, struct ss_error *error) {
    (void)sink;
    (void)error;
    return 0;
}

struct ss_trace_collector ss_trace_collect(struct ss_trace_records *records) {
    return (struct ss_trace_collector){
        .sink = {.take = collect, .end = end_collecting}, .records = records};
}
