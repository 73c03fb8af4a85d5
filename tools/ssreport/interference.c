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

struct ssreport_interference ssreport_interference_of_fits(
    const struct ssreport_fit *first, const struct ssreport_fit *second) {
    struct ssreport_interference result = {.fits = {*first, *second}};
    for (int i = 0; i < 2; i++)
        result.halves[i] = percent_lost(&result.fits[i]);
    result.metric = (result.halves[0] + result.halves[1]) / 2;
    double between = atan(result.halves[0] / -100) - atan(result.halves[1] / -100);
    result.angle = fabs(between) * 180 / M_PI;
    result.agree = result.angle < SSREPORT_ANGLE_AGREES;
    result.significant = is_significant(first) && is_significant(second);
    return result;
}

int ssreport_interference_of(
    const struct ssreport_point *points, size_t count, struct ssreport_interference *interference) {
    double *loads = malloc((2 * count + 1) * sizeof *loads);
    double *throughputs = loads + count;
    struct ssreport_fit fits[2];
    if (!loads)
        return -1;
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
    *interference = ssreport_interference_of_fits(&fits[0], &fits[1]);
    return 0;
}
