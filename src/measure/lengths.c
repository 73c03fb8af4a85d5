/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/lengths.h"

#include <math.h>
#include <stdlib.h>

#include "base/histogram.h"

#define BUCKETS SS_HISTOGRAM_BUCKETS_OF(SS_LENGTHS_BITS)

void ss_lengths_add(struct ss_lengths *lengths, ss_time length) {
    double seconds = ss_time_seconds(length);
    double away = seconds - lengths->mean;
    /* Pages of buckets without a length take no memory. */
    if (lengths->count == 0)
        lengths->buckets = calloc(BUCKETS, sizeof *lengths->buckets);
    if (lengths->buckets) {
        struct ss_lengths_bucket *bucket =
            &lengths->buckets[ss_histogram_bucket(length, SS_LENGTHS_BITS)];
        bucket->count++;
        bucket->sum += length;
    }
    lengths->count++;
    /* Welford: no difference of large sums. */
    lengths->mean += away / (double)lengths->count;
    lengths->squares += away * (seconds - lengths->mean);
}

double ss_lengths_mean(const struct ss_lengths *lengths) {
    return lengths->count ? lengths->mean : NAN;
}

double ss_lengths_deviation(const struct ss_lengths *lengths) {
    return lengths->count > 1 ? sqrt(lengths->squares / (double)(lengths->count - 1)) : NAN;
}

/* The n-th smallest length, from 0 on, in seconds; it must exist. */
static double find_length(const struct ss_lengths *lengths, uint64_t rank) {
    const struct ss_lengths_bucket *bucket = lengths->buckets;
    for (uint64_t seen = bucket->count; seen <= rank; seen += bucket->count)
        bucket++;
    return (double)bucket->sum / (double)bucket->count / 1e9;
}

double ss_lengths_quantile(const struct ss_lengths *lengths, double share) {
    if (lengths->count == 0 || !lengths->buckets)
        return NAN;
    double at = share * (double)(lengths->count - 1);
    uint64_t rank = (uint64_t)at;
    double rest = at - (double)rank;
    double below = find_length(lengths, rank);
    double above = rank + 1 < lengths->count ? find_length(lengths, rank + 1) : below;
    return below + rest * (above - below);
}

void ss_lengths_free(struct ss_lengths *lengths) {
    free(lengths->buckets);
    *lengths = (struct ss_lengths){0};
}
