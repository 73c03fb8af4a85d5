/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RATES_H
#define SSREPORT_RATES_H

#include <stddef.h>

/*
 * Iterations in equal intervals of any length: each adds to every interval the part of it that
 * lies there, so that each adds 1 in all. The method is that of throughput.h, in seconds.
 */
struct ssreport_rates {
    double from, interval; /* seconds */
    size_t count;          /* whole intervals */
    double *parts;         /* iterations in each */
};

/* As many intervals as lie between both times. -1: no memory. */
int ssreport_rates_open(struct ssreport_rates *rates, double from, double to, double interval);

void ssreport_rates_add(struct ssreport_rates *rates, double start, double end);

/* Makes iterations per second of them. */
void ssreport_rates_divide(struct ssreport_rates *rates);

void ssreport_rates_close(struct ssreport_rates *rates);

#endif
