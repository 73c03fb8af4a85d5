/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_THROUGHPUT_H
#define SHOWSTOPPER_MEASURE_THROUGHPUT_H

#include <stddef.h>

#include <showstopper/time.h>

#define SS_THROUGHPUT_INTERVAL (6 * SS_SECOND)

/*
 * Iterations in intervals of time: each adds to every interval the part of it that lies there, so
 * that each adds 1 in all. What lies outside of the counted time is left out.
 */
struct ss_throughput {
    ss_time from; /* where the first interval begins; SS_TIME_NEVER: nothing is counted yet */
    double *parts;
    size_t count, capacity;
};

/* Without memory for it an iteration is left out. */
void ss_throughput_add(struct ss_throughput *throughput, ss_time start, ss_time end);

/* How many whole intervals there are up to `to`. */
size_t ss_throughput_count(const struct ss_throughput *throughput, ss_time to);

/* Iterations per second in one of them. */
double ss_throughput_rate(const struct ss_throughput *throughput, size_t interval);

void ss_throughput_free(struct ss_throughput *throughput);

#endif
