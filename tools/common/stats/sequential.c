/* SPDX-License-Identifier: Apache-2.0 */
#include "sequential.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/*
 * With a planned end N, the sum of n values is compared with the same bound for all n up to N. For
 * a Brownian motion W, P(max |W(t)| > 2.24 for t from 0 to 1) = 5 %: by reflection, half of the
 * paths that cross 2.24 end above it, so 2.24 is the normal quantile at 1 - 5 % / 4. Student's t
 * replaces the normal quantile, because the deviation is estimated.
 */
#define LEVEL 0.9875

/*
 * Without an end, uses the boundary of a normal mixture (Robbins): half^2 = s^2 (n + rho) (2
 * ln(1/0.05) + ln((n + rho) / rho)) / n^2. It is narrowest at a few times rho values.
 */
#define MIXTURE      12
#define MIXTURE_BASE 6

double stats_block_difference(const double a[2], const double b[2]) {
    return (log(b[0]) + log(b[1]) - log(a[0]) - log(a[1])) / 2;
}

size_t stats_turn_differences(const double *figures, size_t count, double *differences) {
    size_t found = 0;
    for (size_t i = 0; i + 3 <= count; i += 3) {
        double difference = log(figures[i + 1]) - (log(figures[i]) + log(figures[i + 2])) / 2;
        if (isfinite(difference))
            differences[found++] = i % 2 == 0 ? difference : -difference;
    }
    return found;
}

double stats_percent_of(double difference) {
    return 100 * expm1(difference);
}

/* Sums of one order's values; without orders, of all values. */
struct part {
    size_t count;
    double sum, mean;
};

static size_t part_of(const enum stats_order *orders, size_t i) {
    return orders ? (size_t)orders[i] : 0;
}

/* Returns half the width of the interval after `count` values with this deviation. */
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
    /* The mean of both orders is less certain if they occur unequally often. */
    look.deviation = sqrt(squares / (double)(count - used) * unbalance);
    if (count >= STATS_LOOK_MIN)
        look.half = half_width(look.deviation, count, (double)(count - used), planned);
    return look;
}
