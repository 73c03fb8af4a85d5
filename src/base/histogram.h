/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_HISTOGRAM_H
#define SHOWSTOPPER_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

/*
 * Returns the bucket of a length of time. Values below 2^bits have a bucket each; above, each
 * doubling has 2^bits equal buckets, so the relative width of a bucket is at most 2^-bits.
 */
unsigned ss_histogram_bucket(ss_time value, unsigned bits);

/* Returns the smallest value in a bucket. */
ss_time ss_histogram_bucket_least(unsigned bucket, unsigned bits);

/* Number of buckets that hold every value. */
#define SS_HISTOGRAM_BUCKETS_OF(bits) ((65U - (bits)) << (bits))

/* Up to 1 us in steps of 250 ns, then four per doubling: a quantile is exact to a quarter. */
#define SS_HISTOGRAM_BUCKETS 132

/* A distribution of lengths of time, written by one process and read by others. Zeroed: empty. */
struct ss_histogram {
    _Atomic uint64_t largest; /* nanoseconds */
    _Atomic uint32_t buckets[SS_HISTOGRAM_BUCKETS];
};

SS_NONNULL() void ss_histogram_add(struct ss_histogram *histogram, ss_time value);

/* Adds the counts of `from`. */
SS_NONNULL() void ss_histogram_merge(struct ss_histogram *into, const struct ss_histogram *from);

SS_NONNULL() bool ss_histogram_is_empty(const struct ss_histogram *histogram);

/* Returns the value that a part `share` (0 to 1) of all values does not exceed; 0 if empty. */
SS_NONNULL() ss_time ss_histogram_quantile(const struct ss_histogram *histogram, double share);

#endif
