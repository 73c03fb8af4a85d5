/* SPDX-License-Identifier: Apache-2.0 */
#include "regression.h"

#include <math.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>

/* A pivot below this part of the largest one shows that a column depends on the previous ones. */
#define SINGULAR 1e-9

static bool is_determined(const gsl_matrix *factors, size_t columns) {
    double largest = 0, smallest = INFINITY;
    for (size_t i = 0; i < columns; i++) {
        double pivot = fabs(gsl_matrix_get(factors, i, i));
        largest = fmax(largest, pivot);
        smallest = fmin(smallest, pivot);
    }
    return smallest > SINGULAR * largest;
}

bool regression_open(
    struct regression *regression, const double *regressors, size_t rows, size_t columns) {
    *regression = (struct regression){.rows = rows, .columns = columns};
    if (columns == 0 || columns > REGRESSION_COLUMNS_MAX || rows <= columns)
        return false;
    regression->factors = gsl_matrix_alloc(rows, columns);
    regression->tau = gsl_vector_alloc(columns);
    regression->coefficients = gsl_vector_alloc(columns);
    regression->residuals = gsl_vector_alloc(rows);
    if (!regression->factors || !regression->tau || !regression->coefficients ||
        !regression->residuals)
        return false;
    gsl_matrix_const_view view = gsl_matrix_const_view_array(regressors, rows, columns);
    gsl_matrix_memcpy(regression->factors, &view.matrix);
    gsl_linalg_QR_decomp(regression->factors, regression->tau);
    return is_determined(regression->factors, columns);
}

void regression_close(struct regression *regression) {
    gsl_matrix_free(regression->factors);
    gsl_vector_free(regression->tau);
    gsl_vector_free(regression->coefficients);
    gsl_vector_free(regression->residuals);
    *regression = (struct regression){0};
}

double regression_freedom(const struct regression *regression) {
    return (double)(regression->rows - regression->columns);
}

void regression_fit(struct regression *regression, const double *values) {
    gsl_vector_const_view view = gsl_vector_const_view_array(values, regression->rows);
    double squares;
    gsl_linalg_QR_lssolve(regression->factors, regression->tau, &view.vector,
        regression->coefficients, regression->residuals);
    gsl_blas_ddot(regression->residuals, regression->residuals, &squares);
    regression->variance = squares / regression_freedom(regression);
}

/* The variance of c'b is the variance of a residual times |R^-T c|^2, because X'X = R'R. */
struct regression_sum regression_sum_of(
    const struct regression *regression, const double *weights) {
    struct regression_sum sum;
    gsl_matrix_const_view upper = gsl_matrix_const_submatrix(
        regression->factors, 0, 0, regression->columns, regression->columns);
    gsl_vector_const_view view = gsl_vector_const_view_array(weights, regression->columns);
    gsl_vector *solved = gsl_vector_alloc(regression->columns);
    if (!solved)
        return (struct regression_sum){NAN, NAN};
    gsl_blas_ddot(&view.vector, regression->coefficients, &sum.value);
    gsl_vector_memcpy(solved, &view.vector);
    gsl_blas_dtrsv(CblasUpper, CblasTrans, CblasNonUnit, &upper.matrix, solved);
    sum.error = gsl_blas_dnrm2(solved) * sqrt(regression->variance);
    gsl_vector_free(solved);
    return sum;
}

struct regression_sum regression_at(const struct regression *regression, size_t column) {
    double weights[REGRESSION_COLUMNS_MAX] = {0};
    weights[column] = 1;
    return regression_sum_of(regression, weights);
}
