/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATS_SEQUENTIAL_H
#define STATS_SEQUENTIAL_H

/*
 * Intervals for a mean that is examined after every value, until the study is decided. At repeated
 * looks, Student's t would exclude the true mean far too often; in 95 % of the studies, these
 * intervals contain it at all looks.
 */

#include <stddef.h>

#include <showstopper/contract.h>

/* The minimum number of values for an interval. */
#define STATS_LOOK_MIN 10

/* The orders of a block of four runs: A B B A or B A A B. */
enum stats_order { STATS_ABBA, STATS_BAAB, STATS_ORDERS };

struct stats_look {
    size_t count;
    double mean;      /* NaN without values */
    double deviation; /* standard deviation of one value; NaN if unknown */
    double half;      /* half the width of the interval; infinite if unknown */
};

/* Returns the mean of ln(B) minus the mean of ln(A) in a block of A, A, B, B. */
double stats_block_difference(const double a[2], const double b[2]) SS_NONNULL();

/*
 * Compares two processes that run in turn, X Y X Y ..., by their `count` figures. Each group of
 * three consecutive turns gives one value in `differences`: the mean of ln(Y) minus the mean of
 * ln(X), in which a steady drift cancels. A group with a figure that is not positive gives none.
 * Returns the number of values, at most a third of `count`.
 */
SS_NONNULL()
SS_READS(1, 2)
size_t stats_turn_differences(const double *figures, size_t count, double *differences);

/*
 * Estimates the mean of `count` values. `planned` is the number of values after which the study
 * ends, fixed before its first value; 0 if it has no end, which makes the interval wider.
 *
 * `orders` are the orders of the blocks, or NULL. An effect of the position in a block, such as a
 * slow first run, raises the values of one order and lowers those of the other. With orders, the
 * result is the mean of both orders' means, and the deviation is taken within each order, so that
 * the effect cancels.
 */
SS_NONNULL(1)
SS_READS(1, 3)
struct stats_look stats_look_at(
    const double *values, const enum stats_order *orders, size_t count, size_t planned);

/* Converts a difference of logarithms to percent. */
double stats_percent_of(double difference);

#endif
