/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

unsigned ss_histogram_bucket(ss_time value, unsigned bits) {
    if (value >> bits == 0)
        return (unsigned)value;
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - bits;
    return (shift << bits) + (unsigned)(value >> shift);
}

ss_time ss_histogram_bucket_least(unsigned bucket, unsigned bits) {
    if (bucket >> bits == 0)
        return bucket;
    unsigned shift = (bucket >> bits) - 1;
    return ((ss_time)bucket - ((ss_time)shift << bits)) << shift;
}

/* Four buckets per doubling, in multiples of a unit; a doubling begins at 1 us. */
#define COARSE_BITS 2
#define COARSE_UNIT (SS_MICROSECOND >> COARSE_BITS)

/* A value at the end of a bucket belongs to it, because quantiles are rounded up. */
static unsigned bucket_of(ss_time value) {
    unsigned bucket = ss_histogram_bucket(value > 0 ? (value - 1) / COARSE_UNIT : 0, COARSE_BITS);
    return bucket < SS_HISTOGRAM_BUCKETS ? bucket : SS_HISTOGRAM_BUCKETS - 1;
}

static ss_time bucket_end(unsigned bucket) {
    return ss_histogram_bucket_least(bucket + 1, COARSE_BITS) * COARSE_UNIT;
}

void ss_histogram_add(struct ss_histogram *histogram, ss_time value) {
    atomic_fetch_add_explicit(&histogram->buckets[bucket_of(value)], 1, memory_order_relaxed);
    if (value > atomic_load_explicit(&histogram->largest, memory_order_relaxed))
        atomic_store_explicit(&histogram->largest, value, memory_order_relaxed);
}

void ss_histogram_merge(struct ss_histogram *into, const struct ss_histogram *from) {
    for (unsigned i = 0; i < SS_HISTOGRAM_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
    if (from->largest > into->largest)
        into->largest = from->largest;
}

bool ss_histogram_is_empty(const struct ss_histogram *histogram) {
    for (unsigned i = 0; i < SS_HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] > 0)
            return false;
    }
    return true;
}

ss_time ss_histogram_quantile(const struct ss_histogram *histogram, double share) {
    uint64_t total = 0;
    for (unsigned i = 0; i < SS_HISTOGRAM_BUCKETS; i++)
        total += histogram->buckets[i];
    uint64_t seen = 0;
    for (unsigned i = 0; i < SS_HISTOGRAM_BUCKETS && total > 0; i++) {
        seen += histogram->buckets[i];
        if ((double)seen >= share * (double)total)
            return bucket_end(i) < histogram->largest ? bucket_end(i) : histogram->largest;
    }
    return total > 0 ? histogram->largest : 0;
}
