/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/record.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"

void ss_trace_records_free(struct ss_trace_records *records) {
    free(records->items);
    *records = (struct ss_trace_records){0};
}

double ss_trace_load_at(const struct ss_trace_records *records, ss_time time, bool loops) {
    if (records->count == 0)
        return NAN;
    ss_time end = records->items[records->count - 1].time;
    ss_time from = ss_trace_loop_from(records);
    if (loops && time >= end && end > from)
        time = from + (time - end) % (end - from);
    size_t count = ss_trace_count_until(records, 0, records->count, time);
    bool is_free = records->items[count > 0 ? count - 1 : 0].free;
    return is_free ? NAN : ss_trace_load_of(records, count, time);
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
