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
    rates->parts = count <= INTERVALS_MAX ? calloc((size_t)count, sizeof *rates->parts) : NULL;
    if (!rates->parts)
        return -1;
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
        if (end_at < last)
            rates->parts[(size_t)end_at] += 1;
        return;
    }
    for (size_t i = (size_t)fmax(first_at, 0); i < rates->count; i++) {
        double begin = fmax(start, rates->from + (double)i * rates->interval);
        double until = fmin(end, rates->from + (double)(i + 1) * rates->interval);
        if (begin >= end)
            return;
        rates->parts[i] += fmax(until - begin, 0) / (end - start);
    }
}

void ssreport_rates_divide(struct ssreport_rates *rates) {
    for (size_t i = 0; i < rates->count; i++)
        rates->parts[i] /= rates->interval;
}

void ssreport_rates_close(struct ssreport_rates *rates) {
    free(rates->parts);
    *rates = (struct ssreport_rates){0};
}
