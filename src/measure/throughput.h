/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_THROUGHPUT_H
#define SHOWSTOPPER_MEASURE_THROUGHPUT_H

#include <stddef.h>

#include <showstopper/time.h>

#define SS_THROUGHPUT_INTERVAL (6 * SS_SECOND)

/*
 * Iterations in intervals of time. An iteration adds to each interval the part of it that falls
 * there: 1 in all, less if it began before the first interval.
 */
struct ss_throughput {
    ss_time from; /* start of the first interval; SS_TIME_NEVER before counting */
    double *parts;
    size_t count, room;
};

/* Adds an iteration, unless counting has not begun or memory is exhausted. */
void ss_throughput_add(struct ss_throughput *throughput, ss_time start, ss_time end);

/* Returns the number of complete intervals up to `to`. */
size_t ss_throughput_count(const struct ss_throughput *throughput, ss_time to);

double ss_throughput_rate(const struct ss_throughput *throughput, size_t interval);

void ss_throughput_free(struct ss_throughput *throughput);

#endif
