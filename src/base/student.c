/* SPDX-License-Identifier: Apache-2.0 */
#include "base/student.h"

#include <float.h>
#include <math.h>

#define NORMAL_QUANTILE  1.959963984540054 /* the 97.5 % quantile of the normal distribution */
#define TAIL_PROBABILITY 0.025

/*
 * Returns the continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8) by
 * Lentz's method. Converges fast below x = (a + 1) / (a + b + 2).
 */
static double fraction(double a, double b, double x) {
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m < 1000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

        d = 1 / (1 + even * d);
        c = 1 + even / c;
        value *= c * d;

        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        value *= c * d;

        if (fabs(c * d - 1) < DBL_EPSILON)
            break;
    }
    return value;
}

/* Returns the density at `t`. Sets `tail` to the probability of larger values. */
static double density(double t, double freedom, double *tail) {
    double a = freedom / 2, b = 0.5, x = freedom / (freedom + t * t);
    double gammas = lgamma(a + b) - lgamma(a);
    double peak = exp(gammas + a * log(x)) / sqrt(M_PI);
    if (x < (a + 1) / (a + b + 2))
        *tail = peak * sqrt(1 - x) / a * fraction(a, b, x) / 2;
    else
        *tail = (1 - peak * sqrt(1 - x) / b * fraction(b, a, 1 - x)) / 2;
    return peak * sqrt(x / freedom);
}

/* The tail is convex, so Newton's method approaches the quantile from below. */
double ss_student_quantile(double freedom) {
    double t = NORMAL_QUANTILE, step = 1;
    for (int i = 0; i < 100 && fabs(step) > 4 * DBL_EPSILON * t; i++) {
        double tail, at = density(t, freedom, &tail);
        step = (tail - TAIL_PROBABILITY) / at;
        t += step;
    }
    return t;
}
