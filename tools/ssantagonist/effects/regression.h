/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_REGRESSION_H
#define SSANTAGONIST_REGRESSION_H

/* Least squares for several series with the same regressors. */

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include <showstopper/contract.h>

#define REGRESSION_COLUMNS_MAX 64

struct regression {
    size_t rows, columns;
    gsl_matrix *factors; /* QR decomposition of the regressors */
    gsl_vector *tau;
    gsl_vector *coefficients, *residuals; /* results of the last fit */
    double variance;                      /* variance of its residuals */
};

/* A sum of coefficients, and its standard error. */
struct regression_sum {
    double value, error;
};

/*
 * Opens a regression of `rows` values over these regressors, stored row by row. Returns false if
 * memory is exhausted, or the regressors do not determine their coefficients. Close it in either
 * case.
 */
SS_MUST_USE SS_NONNULL() bool regression_open(
    struct regression *regression, const double *regressors, size_t rows, size_t columns);
SS_NONNULL() void regression_close(struct regression *regression);

/* Returns the degrees of freedom of the residuals. */
SS_NONNULL() double regression_freedom(const struct regression *regression);

/* Fits the coefficients to these values, one for each row. */
SS_NONNULL() void regression_fit(struct regression *regression, const double *values);

/* Returns the coefficient of this column, and its standard error. */
SS_NONNULL()
struct regression_sum regression_at(const struct regression *regression, size_t column);

/* Returns the weighted sum of all coefficients, and its standard error. */
SS_NONNULL()
struct regression_sum regression_sum_of(const struct regression *regression, const double *weights);

#endif
