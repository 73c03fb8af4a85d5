/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_LOAD_H
#define SHOWSTOPPER_MEASURE_LOAD_H

#include <stdbool.h>

#include <showstopper/feedback.h>

/* The load between two readings of one source. */
struct ss_load {
    double seconds;    /* how far the readings lie apart */
    double load;       /* 1 - (idle + iowait) / elapsed, or used / elapsed: the truth */
    double load_ticks; /* busy ticks over all ticks, as mpstat, sar and top show; NaN: unknown */
};

/* The formulas of load, for all that tells one. Capacity is time that CPUs had, in the same unit.
 */
double ss_load_of_idle(double idle, double capacity);
double ss_load_of_used(double used, double capacity);
double ss_load_of_ticks(double busy, double idle);

/*
 * False when nothing can be said: no time between the readings, CPUs that came or went, counters
 * that went backwards, a sensor that has not spoken.
 */
bool ss_load_between(enum ss_source source, const struct ss_counters *from,
    const struct ss_counters *to, struct ss_load *load);

#endif
