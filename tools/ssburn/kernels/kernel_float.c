/* SPDX-License-Identifier: Apache-2.0 */

/* Kernels for floating point and matrices. */

#include <math.h>

#include "kernels.h"

/* Computes pi by Nilakantha's series. The barrier keeps the compiler from precomputing it. */
#define NILAKANTHA(type, terms, result)                                                            \
    type result = 3, sign_ = 4;                                                                    \
    for (int i_ = 2; i_ < 2 * (terms); i_ += 2) {                                                  \
        type n_ = (type)i_;                                                                        \
        result += sign_ / (n_ * (n_ + 1) * (n_ + 2));                                              \
        sign_ = -sign_;                                                                            \
        KERNEL_COMPILER_BARRIER();                                                                 \
    }

static bool float_round(struct kernel_data *data) {
    (void)data;
    NILAKANTHA(float, 2000, pi)
    return fabsf(pi - 3.14159265f) < 1e-5f;
}

const struct kernel kernel_float = {
    "float", "float", "pi by a series in single precision", float_round};

static bool double_round(struct kernel_data *data) {
    (void)data;
    NILAKANTHA(double, 2000, pi)
    return fabs(pi - M_PI) < 1e-10;
}

const struct kernel kernel_double = {
    "double", "float", "pi by a series in double precision: divisions", double_round};

static bool long_double_round(struct kernel_data *data) {
    (void)data;
    NILAKANTHA(long double, 2000, pi)
    return fabsl(pi - 3.14159265358979323846L) < 1e-10L;
}

const struct kernel kernel_long_double = {
    "long-double", "long-double", "pi by a series in extended precision", long_double_round};

/* Integrates sqrt(x) from 0 to 1, which is 2/3. */
static bool sqrt_round(struct kernel_data *data) {
    double sum = 0;
    (void)data;
    for (int i = 0; i < 20000; i++) {
        sum += sqrt((i + 0.5) / 20000);
        KERNEL_COMPILER_BARRIER();
    }
    return fabs(sum / 20000 - 2.0 / 3) < 1e-6;
}

const struct kernel kernel_sqrt = {"sqrt", "float", "square roots", sqrt_round};

static bool trig_round(struct kernel_data *data) {
    double sum = 0, begin = (double)(data->state++ & 1023);
    for (int i = 0; i < 2000; i++) {
        double x = begin + i * 0.01, s = sin(x), c = cos(x);
        sum += s * s + c * c;
    }
    return fabs(sum - 2000) < 1e-9;
}

const struct kernel kernel_trig = {"trig", "float", "sine and cosine of the C library", trig_round};

#define POINTS 1024

static void transform(double *re, double *im, double direction) {
    for (size_t i = 1, j = 0; i < POINTS; i++) {
        size_t bit = POINTS / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double r = re[i], m = im[i];
            re[i] = re[j];
            im[i] = im[j];
            re[j] = r;
            im[j] = m;
        }
    }

    for (size_t half = 1; half < POINTS; half *= 2) {
        double angle = direction * M_PI / (double)half, wr = cos(angle), wi = sin(angle);
        for (size_t i = 0; i < POINTS; i += 2 * half) {
            double ur = 1, ui = 0;
            for (size_t j = i; j < i + half; j++) {
                double r = re[j + half] * ur - im[j + half] * ui;
                double m = re[j + half] * ui + im[j + half] * ur;
                re[j + half] = re[j] - r;
                im[j + half] = im[j] - m;
                re[j] += r;
                im[j] += m;
                double next = ur * wr - ui * wi;
                ui = ur * wi + ui * wr;
                ur = next;
            }
        }
    }
}

/* Transforms forward and back, which must restore the data. */
static bool fft_round(struct kernel_data *data) {
    double *re = data->memory, *im = re + POINTS, apart = 0;
    for (size_t i = 0; i < POINTS; i++) {
        re[i] = (double)(i * 37 % 101);
        im[i] = 0;
    }

    transform(re, im, 1);
    transform(re, im, -1);

    for (size_t i = 0; i < POINTS; i++)
        apart += fabs(re[i] / POINTS - (double)(i * 37 % 101)) + fabs(im[i]) / POINTS;
    return apart < 1e-6;
}

const struct kernel kernel_fft = {"fft", "float",
    "Fourier transforms of 1024 points, forward and inverse", fft_round, KERNEL_FIXED,
    2 * POINTS * sizeof(double)};

#define SIDE 48

/*
 * Multiplies two matrices and checks the product: the sum of its elements is the sum of products of
 * column sums and row sums, which is exact with small integers.
 */
#define PRODUCT(type, data)                                                                        \
    type(*a)[SIDE] = (data)->memory, (*b)[SIDE] = a + SIDE, (*c)[SIDE] = b + SIDE;                 \
    type expected = 0, found = 0;                                                                  \
    for (size_t i = 0; i < SIDE; i++) {                                                            \
        for (size_t j = 0; j < SIDE; j++) {                                                        \
            a[i][j] = (type)((i * 7 + j) % 10);                                                    \
            b[i][j] = (type)((i + j * 3) % 10);                                                    \
        }                                                                                          \
    }                                                                                              \
    KERNEL_COMPILER_BARRIER();                                                                     \
    for (size_t i = 0; i < SIDE; i++) {                                                            \
        for (size_t j = 0; j < SIDE; j++) {                                                        \
            type sum = 0;                                                                          \
            for (size_t k = 0; k < SIDE; k++)                                                      \
                sum += a[i][k] * b[k][j];                                                          \
            c[i][j] = sum;                                                                         \
        }                                                                                          \
    }                                                                                              \
    KERNEL_COMPILER_BARRIER();                                                                     \
    for (size_t k = 0; k < SIDE; k++) {                                                            \
        type columns = 0, rows = 0;                                                                \
        for (size_t i = 0; i < SIDE; i++) {                                                        \
            columns += a[i][k];                                                                    \
            rows += b[k][i];                                                                       \
            found += c[i][k];                                                                      \
        }                                                                                          \
        expected += columns * rows;                                                                \
    }                                                                                              \
    return expected == found && expected > 0;

static bool matrix_double_round(struct kernel_data *data) {
    PRODUCT(double, data)
}

const struct kernel kernel_matrix_double = {"matrix-double", "matrix",
    "products of 48 x 48 matrices in double precision", matrix_double_round, KERNEL_FIXED,
    3 * SIDE *SIDE * sizeof(double)};

static bool matrix_int_round(struct kernel_data *data) {
    PRODUCT(int32_t, data)
}

const struct kernel kernel_matrix_int = {"matrix-int", "matrix",
    "products of 48 x 48 matrices of 32-bit integers", matrix_int_round, KERNEL_FIXED,
    3 * SIDE *SIDE * sizeof(int32_t)};
