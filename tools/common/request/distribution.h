/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_DISTRIBUTION_H
#define SSREQUEST_DISTRIBUTION_H

/* A distribution of lengths of time with 3 significant digits, in memory that does not grow. */

#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

/* 1024 buckets to each doubling: a quantile is known to within 0.05 %. */
#define SSREQUEST_BUCKET_BITS 10
#define SSREQUEST_BUCKETS     (1024 * 45)

struct ssrequest_distribution {
    uint64_t count;
    double sum;          /* nanoseconds */
    ss_time least, most; /* exact; least is SS_TIME_NEVER without values */
    uint64_t *buckets;
};

int ssrequest_distribution_open(
    struct ssrequest_distribution *distribution, struct ss_error *error);
void ssrequest_distribution_close(struct ssrequest_distribution *distribution);
void ssrequest_distribution_clear(struct ssrequest_distribution *distribution);

void ssrequest_distribution_add(struct ssrequest_distribution *distribution, ss_time value);

/* Groups of 8 buckets, for a distribution that is kept: 128 to each doubling. */
#define SSREQUEST_BINS (SSREQUEST_BUCKETS / 8)

/* How many values a bin counts, and the middle of these, in seconds, which is within 0.4 % of each.
 */
uint64_t ssrequest_distribution_bin(
    const struct ssrequest_distribution *distribution, unsigned bin);
double ssrequest_bin_middle(unsigned bin);

/* In seconds; NaN without values. */
double ssrequest_distribution_mean(const struct ssrequest_distribution *distribution);

/* The value that a part `share` (0 to 1) does not exceed, within `least` and `most`. */
double ssrequest_distribution_quantile(
    const struct ssrequest_distribution *distribution, double share);

#endif
