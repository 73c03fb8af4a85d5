/* SPDX-License-Identifier: Apache-2.0 */
#include "distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/histogram.h"

#define BIN_BUCKETS (SSREQUEST_BUCKETS / SSREQUEST_BINS)

static unsigned bucket_of(ss_time value) {
    unsigned bucket = ss_histogram_bucket(value, SSREQUEST_BUCKET_BITS);
    return bucket < SSREQUEST_BUCKETS ? bucket : SSREQUEST_BUCKETS - 1;
}

/* Half-way between the smallest and the largest value that these adjacent buckets count. */
static double middle_of(unsigned bucket, unsigned buckets) {
    ss_time least = ss_histogram_bucket_least(bucket, SSREQUEST_BUCKET_BITS);
    ss_time next = ss_histogram_bucket_least(bucket + buckets, SSREQUEST_BUCKET_BITS);
    return (double)least + (double)(next - 1 - least) / 2;
}

int ssrequest_distribution_open(
    struct ssrequest_distribution *distribution, struct ss_error *error) {
    distribution->buckets = malloc(SSREQUEST_BUCKETS * sizeof *distribution->buckets);
    if (!distribution->buckets)
        return ss_error_memory(error);
    ssrequest_distribution_clear(distribution);
    return 0;
}

void ssrequest_distribution_close(struct ssrequest_distribution *distribution) {
    free(distribution->buckets);
    distribution->buckets = NULL;
}

void ssrequest_distribution_clear(struct ssrequest_distribution *distribution) {
    distribution->count = 0;
    distribution->sum = 0;
    distribution->least = SS_TIME_NEVER;
    distribution->most = 0;
    memset(distribution->buckets, 0, SSREQUEST_BUCKETS * sizeof *distribution->buckets);
}

void ssrequest_distribution_add(struct ssrequest_distribution *distribution, ss_time value) {
    distribution->count++;
    distribution->sum += (double)value;
    if (value < distribution->least)
        distribution->least = value;
    if (value > distribution->most)
        distribution->most = value;
    distribution->buckets[bucket_of(value)]++;
}

double ssrequest_distribution_mean(const struct ssrequest_distribution *distribution) {
    return distribution->count > 0 ? distribution->sum / (double)distribution->count / 1e9 : NAN;
}

/* Which value it is, from 1 on, if they are sorted. */
static uint64_t rank_of(double share, uint64_t count) {
    /* A product such as 0.07 * 100 may lie just above the whole number that it is. */
    double rank = ceil(share * (double)count * (1 - 1e-12));
    if (!(rank > 1))
        return 1;
    return rank < (double)count ? (uint64_t)rank : count;
}

double ssrequest_distribution_quantile(
    const struct ssrequest_distribution *distribution, double share) {
    if (distribution->count == 0)
        return NAN;
    uint64_t rank = rank_of(share, distribution->count);
    if (rank == 1)
        return ss_time_seconds(distribution->least);
    if (rank == distribution->count)
        return ss_time_seconds(distribution->most);
    unsigned bucket = 0;
    for (uint64_t seen = distribution->buckets[0]; seen < rank;)
        seen += distribution->buckets[++bucket];
    double middle = middle_of(bucket, 1);
    double bounded = fmin(fmax(middle, (double)distribution->least), (double)distribution->most);
    return bounded / 1e9;
}

/* ---- bins ---- */

/* A doubling has a whole number of bins, so all buckets of a bin are of one width. */
_Static_assert(
    (1 << SSREQUEST_BUCKET_BITS) % BIN_BUCKETS == 0, "a bin holds buckets of different widths");

uint64_t ssrequest_distribution_bin(
    const struct ssrequest_distribution *distribution, unsigned bin) {
    uint64_t count = 0;
    for (unsigned i = 0; i < BIN_BUCKETS; i++)
        count += distribution->buckets[bin * BIN_BUCKETS + i];
    return count;
}

double ssrequest_bin_middle(unsigned bin) {
    return floor(middle_of(bin * BIN_BUCKETS, BIN_BUCKETS)) / 1e9;
}
