/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_HISTOGRAM_H
#define SHOWSTOPPER_BASE_HISTOGRAM_H

/*
 * Distributions of durations, counted in buckets. `bits` sets their width: each value below 2^bits
 * has a bucket of its own; larger values have 2^bits equal buckets per doubling, so a bucket is at
 * most 2^-bits of its values wide.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

/* Records and reports: the middle of a bucket is within 0.05 % of its values. */
#define SS_HISTOGRAM_FINE 10

/* Shared memory: the end of a bucket is at most 25 % above its values. */
#define SS_HISTOGRAM_COARSE 2

/* The number of buckets that cover all 64-bit values. */
#define SS_HISTOGRAM_BUCKETS(bits) ((65U - (bits)) << (bits))

unsigned ss_histogram_bucket(ss_time value, unsigned bits);

ss_time ss_histogram_bucket_min(unsigned bucket, unsigned bits);
ss_time ss_histogram_bucket_middle(unsigned bucket, unsigned bits);
ss_time ss_histogram_bucket_max(unsigned bucket, unsigned bits);

/* Size limit of the output of ss_histogram_put_bucket(), with the final 0. */
#define SS_HISTOGRAM_BUCKET_SIZE 24

/* Prints the smallest value of a bucket in seconds, exactly: "0.012345344". Returns the end. */
SS_NONNULL() char *ss_histogram_put_bucket(char *to, unsigned bucket, unsigned bits);

/*
 * Holds any number of values in fixed memory: 440 KiB if fine, of which only the pages of used
 * buckets become resident. All zero: closed and empty.
 */
struct ss_histogram {
    unsigned bits;
    uint64_t count;
    ss_time min, max; /* SS_TIME_NEVER and 0 without values */
    double sum;       /* nanoseconds; exact up to 104 days */
    uint64_t *counts; /* number of values in each bucket */
};

/* Returns -1 if memory is exhausted. */
SS_NONNULL() SS_MUST_USE int ss_histogram_open(struct ss_histogram *histogram, unsigned bits);
SS_NONNULL() void ss_histogram_close(struct ss_histogram *histogram);
SS_NONNULL() void ss_histogram_clear(struct ss_histogram *histogram);

/* Allocates nothing. */
SS_NONNULL() void ss_histogram_add(struct ss_histogram *histogram, ss_time value);

/* Adds values that were counted in a bucket. Each counts as the middle of that bucket. */
SS_NONNULL()
void ss_histogram_add_bucket(struct ss_histogram *histogram, unsigned bucket, uint64_t count);

/*
 * Replaces the maximum if `max` is in the same bucket: ss_histogram_add_bucket() knows only the
 * middle of the bucket.
 */
SS_NONNULL() void ss_histogram_set_max(struct ss_histogram *histogram, ss_time max);

/* Adds all values of `from`, which must have the same `bits`. */
SS_NONNULL() void ss_histogram_merge(struct ss_histogram *into, const struct ss_histogram *from);

/*
 * Moves `bucket` to the first non-empty bucket at or after it: a loop starts at 0 and adds 1 after
 * each result. Returns false if no bucket is left.
 */
SS_NONNULL() bool ss_histogram_next(const struct ss_histogram *histogram, unsigned *bucket);

/* Returns the mean in seconds, NaN without values. */
SS_NONNULL() double ss_histogram_mean(const struct ss_histogram *histogram);

/*
 * Returns a quantile in seconds: the smallest value that is not exceeded by the fraction `share` (0
 * to 1) of all values. The result is exact for the smallest and the largest value, otherwise the
 * middle of that value's bucket, within `min` and `max`; NaN without values.
 */
SS_NONNULL() double ss_histogram_quantile(const struct ss_histogram *histogram, double share);

/* Returns the quantile rounded up to the end of its bucket. */
SS_NONNULL() double ss_histogram_quantile_max(const struct ss_histogram *histogram, double share);

/* A histogram that one process writes and others read. All zero: empty. */
struct ss_shared_histogram {
    _Atomic uint64_t max; /* nanoseconds */
    _Atomic uint32_t counts[SS_HISTOGRAM_BUCKETS(SS_HISTOGRAM_COARSE)];
};

SS_NONNULL() void ss_shared_histogram_add(struct ss_shared_histogram *histogram, ss_time value);

/* Adds all values to `into`, which must have SS_HISTOGRAM_COARSE `bits`. */
SS_NONNULL()
void ss_shared_histogram_read(
    const struct ss_shared_histogram *histogram, struct ss_histogram *into);

#endif
