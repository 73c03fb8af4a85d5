/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned ss_histogram_bucket(ss_time value, unsigned bits) {
    if (value >> bits == 0)
        return (unsigned)value;
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - bits;
    return (shift << bits) + (unsigned)(value >> shift);
}

ss_time ss_histogram_bucket_min(unsigned bucket, unsigned bits) {
    if (bucket >> bits == 0)
        return bucket;
    unsigned shift = (bucket >> bits) - 1;
    return ((ss_time)bucket - ((ss_time)shift << bits)) << shift;
}

/* The bucket after the last one would begin at 2^64, which wraps to 0: the result is 2^64 - 1. */
ss_time ss_histogram_bucket_max(unsigned bucket, unsigned bits) {
    return ss_histogram_bucket_min(bucket + 1, bits) - 1;
}

ss_time ss_histogram_bucket_middle(unsigned bucket, unsigned bits) {
    ss_time min = ss_histogram_bucket_min(bucket, bits);
    return min + (ss_histogram_bucket_max(bucket, bits) - min) / 2;
}

char *ss_histogram_put_bucket(char *to, unsigned bucket, unsigned bits) {
    ss_time min = ss_histogram_bucket_min(bucket, bits);
    return to + snprintf(to, SS_HISTOGRAM_BUCKET_SIZE, "%llu.%09llu",
                    (unsigned long long)(min / SS_SECOND), (unsigned long long)(min % SS_SECOND));
}

int ss_histogram_open(struct ss_histogram *histogram, unsigned bits) {
    *histogram = (struct ss_histogram){.bits = bits, .min = SS_TIME_NEVER};
    histogram->counts = calloc(SS_HISTOGRAM_BUCKETS(bits), sizeof *histogram->counts);
    return histogram->counts ? 0 : -1;
}

void ss_histogram_close(struct ss_histogram *histogram) {
    free(histogram->counts);
    *histogram = (struct ss_histogram){0};
}

void ss_histogram_clear(struct ss_histogram *histogram) {
    /* Clear only the range of used buckets: clearing the others would make their pages resident. */
    if (histogram->count > 0) {
        unsigned first = ss_histogram_bucket(histogram->min, histogram->bits);
        unsigned last = ss_histogram_bucket(histogram->max, histogram->bits);
        memset(&histogram->counts[first], 0, (last - first + 1) * sizeof *histogram->counts);
    }
    histogram->count = 0;
    histogram->sum = 0;
    histogram->min = SS_TIME_NEVER;
    histogram->max = 0;
}

static void add_values(struct ss_histogram *histogram, ss_time value, uint64_t count) {
    histogram->counts[ss_histogram_bucket(value, histogram->bits)] += count;
    histogram->count += count;
    histogram->sum += (double)value * (double)count;
    histogram->min = value < histogram->min ? value : histogram->min;
    histogram->max = value > histogram->max ? value : histogram->max;
}

void ss_histogram_add(struct ss_histogram *histogram, ss_time value) {
    add_values(histogram, value, 1);
}

void ss_histogram_add_bucket(struct ss_histogram *histogram, unsigned bucket, uint64_t count) {
    if (count > 0)
        add_values(histogram, ss_histogram_bucket_middle(bucket, histogram->bits), count);
}

void ss_histogram_set_max(struct ss_histogram *histogram, ss_time max) {
    if (histogram->count > 0 && ss_histogram_bucket(max, histogram->bits) ==
                                    ss_histogram_bucket(histogram->max, histogram->bits))
        histogram->max = max;
}

bool ss_histogram_next(const struct ss_histogram *histogram, unsigned *bucket) {
    if (histogram->count == 0)
        return false;
    unsigned first = ss_histogram_bucket(histogram->min, histogram->bits);
    unsigned last = ss_histogram_bucket(histogram->max, histogram->bits);
    for (unsigned i = *bucket > first ? *bucket : first; i <= last; i++) {
        if (histogram->counts[i] == 0)
            continue;
        *bucket = i;
        return true;
    }
    return false;
}

void ss_histogram_merge(struct ss_histogram *into, const struct ss_histogram *from) {
    double sum = into->sum + from->sum;
    ss_time min = into->min < from->min ? into->min : from->min;
    ss_time max = into->max > from->max ? into->max : from->max;
    if (from->count == 0)
        return;
    for (unsigned i = 0; ss_histogram_next(from, &i); i++)
        ss_histogram_add_bucket(into, i, from->counts[i]);
    into->sum = sum;
    into->min = min;
    into->max = max;
}

double ss_histogram_mean(const struct ss_histogram *histogram) {
    return histogram->count > 0 ? histogram->sum / (double)histogram->count / 1e9 : NAN;
}

/* Returns the rank of the quantile among all values, counted from 1. */
static uint64_t compute_rank(double share, uint64_t count) {
    /* A product such as 0.07 * 100 may be just above the integer that it should be. */
    double rank = ceil(share * (double)count * (1 - 1e-12));
    if (!(rank > 1))
        return 1;
    return rank < (double)count ? (uint64_t)rank : count;
}

static unsigned find_bucket(const struct ss_histogram *histogram, uint64_t rank) {
    unsigned bucket = 0;
    uint64_t seen = 0;
    while (ss_histogram_next(histogram, &bucket) && (seen += histogram->counts[bucket]) < rank)
        bucket++;
    return bucket;
}

static double clamp_to_range(const struct ss_histogram *histogram, ss_time value) {
    value = value > histogram->min ? value : histogram->min;
    return ss_time_seconds(value < histogram->max ? value : histogram->max);
}

double ss_histogram_quantile(const struct ss_histogram *histogram, double share) {
    if (histogram->count == 0)
        return NAN;
    uint64_t rank = compute_rank(share, histogram->count);
    if (rank == 1)
        return ss_time_seconds(histogram->min);
    if (rank == histogram->count)
        return ss_time_seconds(histogram->max);
    return clamp_to_range(
        histogram, ss_histogram_bucket_middle(find_bucket(histogram, rank), histogram->bits));
}

double ss_histogram_quantile_max(const struct ss_histogram *histogram, double share) {
    if (histogram->count == 0)
        return NAN;
    unsigned bucket = find_bucket(histogram, compute_rank(share, histogram->count));
    return clamp_to_range(histogram, ss_histogram_bucket_max(bucket, histogram->bits));
}

void ss_shared_histogram_add(struct ss_shared_histogram *histogram, ss_time value) {
    atomic_fetch_add_explicit(&histogram->counts[ss_histogram_bucket(value, SS_HISTOGRAM_COARSE)],
        1, memory_order_relaxed);
    if (value > atomic_load_explicit(&histogram->max, memory_order_relaxed))
        atomic_store_explicit(&histogram->max, value, memory_order_relaxed);
}

void ss_shared_histogram_read(
    const struct ss_shared_histogram *histogram, struct ss_histogram *into) {
    ss_time max = atomic_load_explicit(&histogram->max, memory_order_relaxed);
    if (into->max > max)
        max = into->max;
    for (unsigned i = 0; i < SS_HISTOGRAM_BUCKETS(SS_HISTOGRAM_COARSE); i++)
        ss_histogram_add_bucket(
            into, i, atomic_load_explicit(&histogram->counts[i], memory_order_relaxed));
    ss_histogram_set_max(into, max);
}
