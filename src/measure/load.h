/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_LOAD_H
#define SHOWSTOPPER_MEASURE_LOAD_H

#include <stdbool.h>

#include <showstopper/feedback.h>

/* The load between two readings of one source. */
struct ss_load {
    double seconds;    /* time between the readings */
    double load;       /* 1 - (idle + iowait) / elapsed, or used / elapsed */
    double load_ticks; /* busy ticks over all ticks, as in mpstat, sar and top; NaN if unknown */
};

/*
 * The formulas of load that every program uses. Capacity is the time of the CPUs, in the same unit.
 */
double ss_load_of_idle(double idle, double capacity);
double ss_load_of_used(double used, double capacity);
double ss_load_of_ticks(double busy, double idle);

/*
 * Returns false if the load is unknown: no time between the readings, CPUs that came or went,
 * counters that went backward, a sensor without a value.
 */
bool ss_load_between(enum ss_source source, const struct ss_counters *from,
    const struct ss_counters *to, struct ss_load *load);

#endif
