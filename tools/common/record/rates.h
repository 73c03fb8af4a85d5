/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RATES_H
#define RECORD_RATES_H

#include <stddef.h>

/*
 * Iterations per interval, in consecutive intervals of equal length. An iteration that spans
 * several intervals counts in each for its part of the time there; parts outside of all intervals
 * do not count.
 */
struct ssreport_rates {
    double from, interval; /* seconds */
    size_t count;          /* number of complete intervals */
    double *parts;         /* sum of the parts of iterations in each interval */
    double *lengths;       /* sum of the lengths of the iterations that overlap each interval, in
                              seconds */
    size_t *overlaps;      /* number of these iterations */
};

/* Divides the time between `from` and `to` into intervals. Returns -1 if memory is exhausted. */
int ssreport_rates_open(struct ssreport_rates *rates, double from, double to, double interval);

void ssreport_rates_add(struct ssreport_rates *rates, double start, double end);

/*
 * Converts parts to iterations per second, and sums of lengths to means; the mean of an interval
 * without iterations is NaN.
 */
void ssreport_rates_divide(struct ssreport_rates *rates);

void ssreport_rates_close(struct ssreport_rates *rates);

#endif
