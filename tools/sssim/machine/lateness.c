/* SPDX-License-Identifier: Apache-2.0 */
#include "lateness.h"

#include <math.h>
#include <stddef.h>

/*
 * A quantile of the lateness in microseconds, with idle CPUs and without. The median, the 99th
 * percentile and rare maxima of tens of milliseconds were measured; the other quantiles are
 * estimates between these. The step at 0.99995 separates the rare outliers from the rest.
 */
struct quantile {
    double chance;
    double idle;
    double saturated;
};

static const struct quantile quantiles[] = {
    {0, 10, 4},
    {0.5, 45, 16},
    {0.9, 90, 50},
    {0.99, 300, 300},
    {0.99995, 2000, 2000},
    {0.99995, 10000, 10000},
    {1, 50000, 50000},
};

/* Interpolates logarithms, because the tail is long. */
ss_time lateness_recorded(double chance, bool idle) {
    size_t i = 1;
    while (chance >= quantiles[i].chance && i + 1 < sizeof quantiles / sizeof *quantiles)
        i++;
    const struct quantile *from = &quantiles[i - 1], *to = &quantiles[i];
    double part = (chance - from->chance) / (to->chance - from->chance);
    double min = idle ? from->idle : from->saturated;
    double max = idle ? to->idle : to->saturated;
    return ss_time_from_double(min * pow(max / min, part) * (double)SS_MICROSECOND);
}
