/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_HISTOGRAM_H
#define SHOWSTOPPER_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

/* Four buckets to each doubling from 1 us on: a quantile is known to within a quarter. */
#define SS_HISTOGRAM_BUCKETS 128

/* A distribution of lengths of time, written by one process and read by others. Zeroed: empty. */
struct ss_histogram {
    _Atomic uint64_t largest; /* nanoseconds */
    _Atomic uint32_t buckets[SS_HISTOGRAM_BUCKETS];
};

SS_NONNULL() void ss_histogram_add(struct ss_histogram *histogram, ss_time value);

/* Adds the counts of `from`. */
SS_NONNULL() void ss_histogram_merge(struct ss_histogram *into, const struct ss_histogram *from);

/* What the part `share` (0 to 1) of the values does not exceed; 0 when there are none. */
SS_NONNULL() ss_time ss_histogram_quantile(const struct ss_histogram *histogram, double share);

#endif
