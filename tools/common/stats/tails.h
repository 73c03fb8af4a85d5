/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATS_TAILS_H
#define STATS_TAILS_H

/*
 * Tail probabilities of distributions (p-values). Small ones are as precise as large ones, because
 * no tail is computed as 1 minus the rest. A tail too small for a double is 0.
 */

/* Returns the probability of both tails of Student's t beyond -t and +t. */
double stats_tail_t(double t, double freedom);

/* Returns the probability of a larger F. */
double stats_tail_f(double f, double numerator_freedom, double denominator_freedom);

/* Returns the probability of a larger chi-square. */
double stats_tail_chi_square(double chi_square, double freedom);

/* Returns the probability of a larger value of the standard normal distribution. */
double stats_tail_normal(double z);

#endif
