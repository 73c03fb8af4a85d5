/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <math.h>

int ssload_target_open(struct ssload_target *target, const char *path, struct ss_error *error) {
    *target = (struct ssload_target){0};
    if (ss_trace_load(path, &target->records, error) != 0)
        return ss_error_wrap(error, "--target");
    const struct ss_trace_records *records = &target->records;
    size_t first = 0;
    while (first < records->count && records->items[first].free)
        first++;
    target->end = records->items[records->count - 1].time;
    target->loop_from = first < records->count ? records->items[first].time : target->end;
    return 0;
}

void ssload_target_close(struct ssload_target *target) {
    ss_trace_records_free(&target->records);
}

double ssload_target_at(const struct ssload_target *target, ss_time time) {
    const struct ss_trace_records *records = &target->records;
    if (records->count == 0)
        return NAN;
    if (time >= target->end && target->end > target->loop_from)
        time = target->loop_from + (time - target->end) % (target->end - target->loop_from);
    size_t count = ss_trace_count_until(records, 0, records->count, time);
    const struct ss_trace_record *record = &records->items[count > 0 ? count - 1 : 0];
    if (record->free)
        return NAN;
    if (count > 0 && count < records->count)
        return ss_trace_interpolate(record, record + 1, time);
    return record->load;
}
