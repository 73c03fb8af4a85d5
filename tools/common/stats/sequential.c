/* SPDX-License-Identifier: Apache-2.0 */
#include "sequential.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/*
 * With an end, the sum of n values of N is compared with one bound for all n. A Brownian motion W
 * has P(max |W(t)| > 2.24 for t from 0 to 1) = 5 %: by reflection, a path that crosses 2.24 ends
 * above it in half of the cases, so 2.24 is the normal quantile at 1 - 5 % / 4. The quantile of
 * Student's t replaces it, because the deviation is estimated.
 */
#define LEVEL 0.9875

/*
 * Without an end, the boundary is that of a normal mixture (Robbins): half^2 = s^2 (n + rho) (2
 * ln(1/0.05) + ln((n + rho) / rho)) / n^2. It is narrowest after a few times rho values.
 */
#define MIXTURE      12
#define MIXTURE_BASE 6

double stats_block_difference(const double a[2], const double b[2]) {
    return (log(b[0]) + log(b[1]) - log(a[0]) - log(a[1])) / 2;
}

double stats_percent_of(double difference) {
    return 100 * expm1(difference);
}

/* The mean of values of one order; without orders, of all values. */
struct part {
    size_t count;
    double sum, mean;
};

static size_t part_of(const enum stats_order *orders, size_t i) {
    return orders ? (size_t)orders[i] : 0;
}

/* Returns half the width of the interval after `count` values with this standard deviation. */
static double half_width(double deviation, size_t count, double freedom, size_t planned) {
    double n = (double)count;
    if (planned > 0)
        return gsl_cdf_tdist_Pinv(LEVEL, freedom) * deviation * sqrt((double)planned) / n;
    return deviation / n * sqrt((n + MIXTURE) * (MIXTURE_BASE + log((n + MIXTURE) / MIXTURE)));
}

struct stats_look stats_look_at(
    const double *values, const enum stats_order *orders, size_t count, size_t planned) {
    struct stats_look look = {.count = count, .mean = NAN, .deviation = NAN, .half = INFINITY};
    struct part parts[STATS_ORDERS] = {0};
    size_t used = orders ? STATS_ORDERS : 1;
    double squares = 0, unbalance = 0;
    for (size_t i = 0; i < count; i++) {
        struct part *part = &parts[part_of(orders, i)];
        part->count++;
        part->sum += values[i];
    }
    look.mean = 0;
    for (size_t i = 0; i < used; i++) {
        parts[i].mean = parts[i].sum / (double)parts[i].count;
        look.mean += parts[i].mean / (double)used;
        unbalance += (double)count / (double)parts[i].count / (double)(used * used);
    }
    for (size_t i = 0; i < count; i++)
        squares += pow(values[i] - parts[part_of(orders, i)].mean, 2);
    if (!isfinite(look.mean) || count <= used)
        return look;
    /* Orders that occur unequally often make the mean of both less certain. */
    look.deviation = sqrt(squares / (double)(count - used) * unbalance);
    if (count >= STATS_LOOK_MIN)
        look.half = half_width(look.deviation, count, (double)(count - used), planned);
    return look;
}
