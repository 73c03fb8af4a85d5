/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_LENGTHS_H
#define SHOWSTOPPER_MEASURE_LENGTHS_H

#include <stddef.h>
#include <stdint.h>

#include <showstopper/time.h>

/* So many lengths are kept at most. */
#define SS_LENGTHS_KEPT 65536

/*
 * How long iterations took. Count, mean and deviation are exact; quantiles are, too, as long as all
 * lengths can be kept, and from then on those of every second one, of every fourth, and so on.
 * Zeroed: none.
 */
struct ss_lengths {
    uint64_t count;
    double mean;    /* seconds */
    double squares; /* sum of the squares of what lies between the lengths and their mean */
    uint64_t step;  /* every step-th length is kept; 0: of none yet */
    double *kept;   /* seconds */
    size_t kept_count, capacity;
};

/* Without memory for it a length is left out of the quantiles. */
void ss_lengths_add(struct ss_lengths *lengths, ss_time length);

/* Seconds. NaN: there are too few for that. */
double ss_lengths_mean(const struct ss_lengths *lengths);
double ss_lengths_deviation(const struct ss_lengths *lengths); /* of the sample: n - 1 */

/*
 * What the part `share` (0 to 1) of the lengths does not exceed, interpolated as ssreport does it.
 * Sorts those that are kept.
 */
double ss_lengths_quantile(struct ss_lengths *lengths, double share);

void ss_lengths_free(struct ss_lengths *lengths);

#endif
