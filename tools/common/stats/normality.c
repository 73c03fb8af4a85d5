/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The test of Shapiro and Wilk (1965) by Royston's approximations: P. Royston, Approximating the
 * Shapiro-Wilk W-test for non-normality, Statistics and Computing 2 (1992), and Remark AS R94,
 * Applied Statistics 44 (1995). All polynomials are theirs.
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_poly.h>
#include <math.h>
#include <stdlib.h>

#include "base/owned.h"
#include "group_tests.h"
#include "tails.h"

#define POLYNOMIAL(coefficients, x)                                                                \
    gsl_poly_eval(coefficients, sizeof(coefficients) / sizeof *(coefficients), x)

/* Returns the index of the last weight, counted from either end, that is set by a polynomial. */
static size_t inner_tail(size_t count) {
    return count > 5;
}

/* Sets the first two weights, at the lower end, by polynomials in 1 / sqrt(n). */
static void correct_tail(double *weights, size_t count, double squares) {
    static const double outer[] = {0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056};
    static const double inner[] = {0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633};
    double root = sqrt(squares), x = 1 / sqrt((double)count);
    weights[0] = weights[0] / root - POLYNOMIAL(outer, x);
    if (inner_tail(count))
        weights[1] = weights[1] / root - POLYNOMIAL(inner, x);
}

/*
 * Sets the weights of sorted values: expected values of a sorted normal sample, corrected at both
 * ends. Their sum is 0, the sum of their squares 1.
 */
static void find_weights(double *weights, size_t count) {
    double squares = 0, rest = 0, tail = 0;
    if (count == 3) {
        weights[0] = -M_SQRT1_2;
        weights[1] = 0;
        weights[2] = M_SQRT1_2;
        return;
    }
    for (size_t i = 0; i < count / 2; i++) {
        weights[i] = gsl_cdf_ugaussian_Pinv(((double)i + 1 - 0.375) / ((double)count + 0.25));
        squares += 2 * weights[i] * weights[i];
        rest += i > inner_tail(count) ? 2 * weights[i] * weights[i] : 0;
    }
    correct_tail(weights, count, squares);
    for (size_t i = 0; i <= inner_tail(count); i++)
        tail += 2 * weights[i] * weights[i];
    for (size_t i = inner_tail(count) + 1; i < count / 2; i++)
        weights[i] /= sqrt(rest / (1 - tail));
    if (count % 2)
        weights[count / 2] = 0;
    for (size_t i = 0; i < count / 2; i++)
        weights[count - 1 - i] = -weights[i];
}

/*
 * Returns 1 - W. W is the squared cosine of the angle between values and weights. The length of the
 * difference of both unit vectors keeps the digits that 1 - W would lose if W is near 1.
 */
static double find_complement(const double *sorted, const double *weights, size_t count) {
    struct stats_sample sample = stats_sample_of(sorted, count);
    double length = sqrt(sample.variance * (double)(count - 1)), square = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += weights[i] * weights[i];
    for (size_t i = 0; i < count; i++) {
        double apart = (sorted[i] - sample.mean) / length - weights[i] / sqrt(squares);
        square += apart * apart;
    }
    return square * (1 - square / 4);
}

/* The exact distribution of three values: 6 / pi (asin(sqrt(W)) - asin(sqrt(3 / 4))). */
static double p_of_three(double complement) {
    double sine = (1 - 4 * complement) / (2 * (sqrt(1 - complement) + sqrt(3 * complement)));
    return fmax(6 / M_PI * asin(sine), 0);
}

/* The logarithm of 1 - W, transformed again if there are few values, is about normal. */
static double p_of_more(double complement, size_t count) {
    static const double bound[] = {-2.273, 0.459};
    static const double few_mean[] = {0.544, -0.39978, 0.025054, -6.714e-4};
    static const double few_scale[] = {1.3822, -0.77857, 0.062767, -0.0020322};
    static const double mean[] = {-1.5861, -0.31082, -0.083751, 0.0038915};
    static const double scale[] = {-0.4803, -0.082676, 0.0030302};
    double n = (double)count, y = log(complement);
    if (count > 11) {
        double x = log(n);
        return stats_tail_normal((y - POLYNOMIAL(mean, x)) / exp(POLYNOMIAL(scale, x)));
    }
    double gamma = POLYNOMIAL(bound, n);
    if (y >= gamma)
        return 0;
    return stats_tail_normal(
        (-log(gamma - y) - POLYNOMIAL(few_mean, n)) / exp(POLYNOMIAL(few_scale, n)));
}

struct stats_test stats_test_normality(const double *sorted, size_t count) {
    struct stats_test test = {
        .statistic = NAN, .freedom = NAN, .freedom_within = NAN, .p = NAN, .missing = NULL};
    if (count < 3)
        test.missing = "fewer than 3 values";
    else if (count > 5000)
        test.missing = "more than 5000 values";
    else if (sorted[0] == sorted[count - 1])
        test.missing = "all values are equal";
    if (test.missing)
        return test;
    SS_OWNED(free) double *weights = malloc(count * sizeof *weights);
    if (!weights) {
        test.missing = "out of memory";
        return test;
    }
    find_weights(weights, count);
    double complement = find_complement(sorted, weights, count);
    test.statistic = 1 - complement;
    test.p = count == 3 ? p_of_three(complement) : p_of_more(complement, count);
    return test;
}
