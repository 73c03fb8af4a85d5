/* SPDX-License-Identifier: Apache-2.0 */
#include "rates.h"

#include <math.h>
#include <stdlib.h>

/* Ten years of default intervals. A wrong clock must not exhaust memory. */
#define INTERVALS_MAX 52596000.0

/*
 * The last interval may be too short by this many seconds, because `from` and `to` are rounded to
 * six decimals.
 */
#define SHORT 2e-6

int ssreport_rates_open(struct ssreport_rates *rates, double from, double to, double interval) {
    double count = floor((to - from + SHORT) / interval);
    *rates = (struct ssreport_rates){.from = from, .interval = interval};
    if (!(count > 0))
        return 0;
    if (count > INTERVALS_MAX)
        return -1;
    rates->parts = calloc((size_t)count, sizeof *rates->parts);
    rates->lengths = calloc((size_t)count, sizeof *rates->lengths);
    rates->overlaps = calloc((size_t)count, sizeof *rates->overlaps);
    if (!rates->parts || !rates->lengths || !rates->overlaps) {
        ssreport_rates_close(rates);
        return -1;
    }
    rates->count = (size_t)count;
    return 0;
}

void ssreport_rates_add(struct ssreport_rates *rates, double start, double end) {
    double last = (double)rates->count;
    double first_at = floor((start - rates->from) / rates->interval);
    double end_at = (end - rates->from) / rates->interval;
    if (!(end_at >= 0) || !(first_at < last))
        return;
    if (!(end > start)) {
        /* An iteration without a duration counts in the interval in which it ended. */
        if (end_at < last) {
            rates->parts[(size_t)end_at] += 1;
            rates->overlaps[(size_t)end_at]++;
        }
        return;
    }
    for (size_t i = (size_t)fmax(first_at, 0); i < rates->count; i++) {
        double begin = fmax(start, rates->from + (double)i * rates->interval);
        double until = fmin(end, rates->from + (double)(i + 1) * rates->interval);
        if (begin >= end)
            return;
        if (until <= begin)
            continue;
        rates->parts[i] += (until - begin) / (end - start);
        rates->lengths[i] += end - start;
        rates->overlaps[i]++;
    }
}

void ssreport_rates_divide(struct ssreport_rates *rates) {
    for (size_t i = 0; i < rates->count; i++) {
        rates->parts[i] /= rates->interval;
        rates->lengths[i] /= (double)rates->overlaps[i];
    }
}

void ssreport_rates_close(struct ssreport_rates *rates) {
    free(rates->parts);
    free(rates->lengths);
    free(rates->overlaps);
    *rates = (struct ssreport_rates){0};
}
