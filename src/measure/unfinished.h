/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_UNFINISHED_H
#define SHOWSTOPPER_MEASURE_UNFINISHED_H

/*
 * An iteration that had not ended when counting did. Its whole length is estimated from the
 * iterations of the same instance, so that the part that was done counts. Seconds.
 */
struct ss_unfinished {
    double elapsed;   /* since it began */
    double counted;   /* of this, in the counted time */
    double mean;      /* length of iterations that have ended; NaN: none has */
    double deviation; /* of their lengths; NaN: unknown */
};

/* Longer than `elapsed`, so that the part is below 1. NaN: no iteration has ended. */
double ss_unfinished_length(const struct ss_unfinished *unfinished);

/* The part of an iteration that was done in the counted time; 0 if its length is unknown. */
double ss_unfinished_part(const struct ss_unfinished *unfinished);

/* The most that this part can be. */
double ss_unfinished_part_max(const struct ss_unfinished *unfinished);

/*
 * Standard deviation of the part. If the length is not known, or exceeded already, every part
 * is equally likely.
 */
double ss_unfinished_part_deviation(const struct ss_unfinished *unfinished);

#endif
