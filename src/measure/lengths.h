/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_LENGTHS_H
#define SHOWSTOPPER_MEASURE_LENGTHS_H

#include <stddef.h>
#include <stdint.h>

#include <showstopper/time.h>

/* 1024 buckets to each doubling, so a quantile is off by less than 0.1 % of its value. */
#define SS_LENGTHS_BITS 10

/* Lengths that differ by less than 0.1 %, in nanoseconds; each is taken to be their mean. */
struct ss_lengths_bucket {
    uint64_t count;
    uint64_t sum;
};

/*
 * How long iterations took. Count, mean and deviation are exact; quantiles come from a histogram of
 * all lengths, whose size does not depend on their number. Zeroed: empty.
 */
struct ss_lengths {
    uint64_t count;
    double mean;    /* seconds */
    double squares; /* sum of the squared differences between the lengths and their mean */
    struct ss_lengths_bucket *buckets; /* NULL: no length yet */
};

/* Without memory there are no quantiles. */
void ss_lengths_add(struct ss_lengths *lengths, ss_time length);

/* Seconds. NaN: there are too few for that. */
double ss_lengths_mean(const struct ss_lengths *lengths);
double ss_lengths_deviation(const struct ss_lengths *lengths); /* of the sample: n - 1 */

/*
 * The length that the part `share` (0 to 1) of all lengths does not exceed, interpolated between
 * two lengths as ssreport does it.
 */
double ss_lengths_quantile(const struct ss_lengths *lengths, double share);

void ss_lengths_free(struct ss_lengths *lengths);

#endif
