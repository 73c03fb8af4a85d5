/* SPDX-License-Identifier: Apache-2.0 */
#include "tails.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>

/*
 * Maximum number of steps of the continued fraction. It takes about the square root of the larger
 * degrees of freedom.
 */
#define FRACTION_STEPS 100000

/*
 * Evaluates the continued fraction of the incomplete beta function (DLMF 8.17.22) by Lentz's
 * method. Converges fast for x below (a + 1) / (a + b + 2).
 */
static double beta_fraction(double a, double b, double x) {
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m <= FRACTION_STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        value *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        value *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            return value;
    }
    return NAN;
}

/*
 * Returns the left tail of the beta distribution up to x = 1 / (1 + ratio). Computing with the
 * ratio keeps the digits of 1 - x, which gsl_sf_beta_inc() loses if x is near 1.
 */
static double beta_tail(double a, double b, double ratio) {
    if (isnan(ratio))
        return NAN;
    if (ratio <= 0)
        return 1;
    double x = 1 / (1 + ratio), y = 1 / (1 + 1 / ratio);
    double density = exp(-a * log1p(ratio) - b * log1p(1 / ratio) - gsl_sf_lnbeta(a, b));
    if (x * (a + b + 2) < a + 1)
        return density * beta_fraction(a, b, x) / a;
    return 1 - density * beta_fraction(b, a, y) / b;
}

/* gsl_cdf_tdist_Q() has only seven digits for small tails. */
double stats_tail_t(double t, double freedom) {
    return beta_tail(freedom / 2, 0.5, t * t / freedom);
}

double stats_tail_f(double f, double numerator_freedom, double denominator_freedom) {
    return beta_tail(denominator_freedom / 2, numerator_freedom / 2,
        numerator_freedom * f / denominator_freedom);
}

/* Handles underflow, on which GSL would abort. */
double stats_tail_chi_square(double chi_square, double freedom) {
    if (isinf(chi_square))
        return 0;
    gsl_sf_result result = {0};
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    int status = gsl_sf_gamma_inc_Q_e(freedom / 2, chi_square / 2, &result);
    gsl_set_error_handler(handler);
    return status == GSL_SUCCESS ? result.val : status == GSL_EUNDRFLW ? 0 : NAN;
}

double stats_tail_normal(double z) {
    return erfc(z * M_SQRT1_2) / 2;
}
