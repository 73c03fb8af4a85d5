/* SPDX-License-Identifier: Apache-2.0 */
#include "interference.h"

#include <math.h>
#include <stdlib.h>

static double percent_lost(const struct ssreport_fit *fit) {
    return fit->intercept == 0 ? NAN : -100 * fit->slope / fit->intercept;
}

static bool is_significant(const struct ssreport_fit *fit) {
    return fit->slope_p < SSREPORT_SIGNIFICANT && fit->intercept_p < SSREPORT_SIGNIFICANT;
}

/* Converts a ratio of slope to intercept to a loss in percent. */
static struct ssreport_interval to_percent(struct ssreport_interval ratio) {
    return (struct ssreport_interval){-100 * ratio.high, -100 * ratio.low};
}

/*
 * Returns the degrees of freedom of the sum of both ratios. Without scatter, their number has no
 * effect.
 */
static double sum_freedom(const struct ssreport_fit fits[2]) {
    double sum = 0, squares = 0;
    for (int i = 0; i < 2; i++) {
        double variance = ssreport_fit_ratio_variance(&fits[i]);
        sum += variance;
        squares += variance * variance / ((double)fits[i].count - 2);
    }
    return squares == 0 ? 1 : sum * sum / squares;
}

static void find_intervals(struct ssreport_interference *result, double confidence) {
    double below = 0, above = 0, freedom = sum_freedom(result->fits);
    for (int i = 0; i < 2; i++) {
        const struct ssreport_fit *fit = &result->fits[i];
        result->half_intervals[i] =
            to_percent(ssreport_fit_ratio(fit, confidence, (double)fit->count - 2));
        struct ssreport_interval part = {NAN, NAN};
        if (isfinite(freedom))
            part = to_percent(ssreport_fit_ratio(fit, confidence, freedom));
        below = hypot(below, result->halves[i] - part.low);
        above = hypot(above, part.high - result->halves[i]);
    }
    result->interval =
        (struct ssreport_interval){result->metric - below / 2, result->metric + above / 2};
}

const char *ssreport_interference_missing(const struct ssreport_interference *interference) {
    for (int i = 0; i < 2; i++) {
        if (ssreport_fit_missing(&interference->fits[i]))
            return i == 0 ? "no fit through the first half" : "no fit through the second half";
        if (!isfinite(interference->halves[i]))
            return "the foreground has no throughput beside an idle background";
    }
    return isfinite(interference->interval.low) && isfinite(interference->interval.high)
               ? NULL
               : "no interval: an intercept is not significantly different from 0";
}

struct ssreport_interference ssreport_interference_of_fits(
    const struct ssreport_fit *first, const struct ssreport_fit *second, double confidence) {
    struct ssreport_interference result = {.fits = {*first, *second}};
    for (int i = 0; i < 2; i++)
        result.halves[i] = percent_lost(&result.fits[i]);
    result.metric = (result.halves[0] + result.halves[1]) / 2;
    find_intervals(&result, confidence);
    double between = atan(result.halves[0] / -100) - atan(result.halves[1] / -100);
    result.angle = fabs(between) * 180 / M_PI;
    result.agree = result.angle < SSREPORT_ANGLE_AGREES;
    result.significant = is_significant(first) && is_significant(second);
    return result;
}

int ssreport_interference_of(const struct ssreport_point *points, size_t count, double confidence,
    struct ssreport_interference *interference) {
    double *loads = malloc((2 * count + 1) * sizeof *loads);
    if (!loads)
        return -1;
    double *throughputs = loads + count;
    struct ssreport_fit fits[2];
    for (int half = 1; half <= 2; half++) {
        size_t used = 0;
        for (size_t i = 0; i < count; i++) {
            if (points[i].half != half || !isfinite(points[i].load) ||
                !isfinite(points[i].throughput))
                continue;
            loads[used] = points[i].load;
            throughputs[used++] = points[i].throughput;
        }
        fits[half - 1] = ssreport_fit_line(loads, throughputs, used);
    }
    free(loads);
    *interference = ssreport_interference_of_fits(&fits[0], &fits[1], confidence);
    return 0;
}
