/* SPDX-License-Identifier: Apache-2.0 */
#include "base/combined_counter.h"

/* Number of prompt readings over which the offset follows the error of the fine count. */
#define READINGS_AVERAGED 32

/* Returns the expected distance of the sum above the coarse count, if the offset is right. */
static int64_t expected_gap(const struct ss_combined_reading *reading) {
    return (int64_t)reading->step / 4;
}

/*
 * Limits how far the sum of fine count and offset is above the coarse count. The true count is at
 * most a step above it. The sum may be below it only while the fine count lags.
 */
static int64_t limit_gap(const struct ss_combined_reading *reading, int64_t above) {
    if (reading->prompt && above < 0)
        above = 0;
    if (reading->prompt)
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
