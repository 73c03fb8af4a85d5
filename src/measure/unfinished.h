/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_UNFINISHED_H
#define SHOWSTOPPER_MEASURE_UNFINISHED_H

/*
 * An iteration that was in progress when counting ended. Its length is estimated from the
 * iterations of the same instance, so that the completed part counts. Times are in seconds.
 */
struct ss_unfinished {
    double elapsed;   /* time since it began */
    double counted;   /* part of `elapsed` in the counted time */
    double mean;      /* mean length of ended iterations; NaN if none */
    double deviation; /* deviation of their lengths; NaN if unknown */
};

/*
 * Returns the estimated length, which exceeds `elapsed`, so that the part is below 1. NaN if no
 * iteration has ended yet.
 */
double ss_unfinished_length(const struct ss_unfinished *unfinished);

/*
 * Returns the part of the iteration that was done in the counted time; 0 if its length is unknown.
 */
double ss_unfinished_part(const struct ss_unfinished *unfinished);

/* Returns an upper bound of this part. */
double ss_unfinished_part_max(const struct ss_unfinished *unfinished);

/*
 * Returns the standard deviation of the part. If the length is unknown, or already exceeded, all
 * parts are equally likely.
 */
double ss_unfinished_part_deviation(const struct ss_unfinished *unfinished);

#endif
