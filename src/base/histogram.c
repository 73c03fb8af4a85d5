/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

/* Bucket 0 ends at 1 us; from there on four to a doubling, found without a logarithm. */
static ss_time bucket_end(unsigned bucket) {
    ss_time octave = SS_MICROSECOND << (bucket / 4);
    return octave + octave / 4 * (bucket % 4);
}

static unsigned bucket_of(ss_time value) {
    unsigned bucket = 0;
    while (bucket + 4 < SS_HISTOGRAM_BUCKETS && bucket_end(bucket + 4) < value)
        bucket += 4;
    while (bucket < SS_HISTOGRAM_BUCKETS - 1 && bucket_end(bucket) < value)
        bucket++;
    return bucket;
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
