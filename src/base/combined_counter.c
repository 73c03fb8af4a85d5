/* SPDX-License-Identifier: Apache-2.0 */
#include "base/combined_counter.h"

/* Each prompt reading corrects 1 / READINGS_AVERAGED of the error of the offset. */
#define READINGS_AVERAGED 32

/* Returns how far the sum is above the coarse count on average if the offset is right. */
static int64_t expected_gap(const struct ss_combined_reading *reading) {
    return (int64_t)reading->step / 4;
}

/*
 * Limits how far the sum of fine count and offset is above the coarse count: the true count is at
 * most a step above it. Unless the fine count lags, the distance cannot be negative, and moves
 * slowly to the expected one.
 */
static int64_t limit_gap(const struct ss_combined_reading *reading, int64_t above) {
    if (reading->fine_is_current && above < 0)
        above = 0;
    if (reading->fine_is_current)
        above += (expected_gap(reading) - above) / READINGS_AVERAGED;
    return above > (int64_t)reading->step ? (int64_t)reading->step : above;
}

uint64_t ss_combined_counter_read(
    struct ss_combined_counter *counter, const struct ss_combined_reading *reading) {
    uint64_t min = reading->coarse - reading->fine;
    int64_t above = expected_gap(reading);
    uint64_t last = reading->coarse;

    if (atomic_load(&counter->begun)) {
        above = limit_gap(reading, (int64_t)(atomic_load(&counter->offset) - min));
        last = atomic_load(&counter->last);
    }

    uint64_t result = reading->coarse + (uint64_t)(above > 0 ? above : 0);
    if (last > result && last - reading->coarse <= reading->step)
        result = last;

    atomic_store(&counter->offset, min + (uint64_t)above);
    atomic_store(&counter->last, result);
    atomic_store(&counter->begun, true);
    return result;
}
