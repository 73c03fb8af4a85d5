/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_FUZZ_RECORDS_H
#define SHOWSTOPPER_TESTS_FUZZ_RECORDS_H

#include "fuzz.h"
#include "showstopper/trace.h"

static inline void fuzz_records(const struct ss_trace_records *records) {
    FUZZ_CHECK(records->count > 0 && records->count <= records->capacity);
    for (size_t i = 0; i < records->count; i++) {
        const struct ss_trace_record *record = &records->items[i];
        FUZZ_CHECK(record->load >= 0 && record->load <= 1);
        FUZZ_CHECK(record->time != SS_TIME_NEVER);
        FUZZ_CHECK(i == 0 || record->time >= record[-1].time);
    }
}

#endif
