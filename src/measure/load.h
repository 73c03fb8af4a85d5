/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_LOAD_H
#define SHOWSTOPPER_MEASURE_LOAD_H

#include <stdbool.h>

#include <showstopper/feedback.h>

/* The load between two readings from one source. */
struct ss_load {
    double seconds;    /* time between the readings */
    double load;       /* 1 - (idle + iowait) / capacity, used / capacity, or a sensor's value */
    double load_ticks; /* busy ticks over all ticks, as in mpstat, sar and top; NaN if unknown */
};

/*
 * The formulas of the load, which every program uses. `capacity` is the CPU time that was
 * available, in the unit of the other argument.
 */
double ss_load_of_idle(double idle, double capacity);
double ss_load_of_used(double used, double capacity);
double ss_load_of_ticks(double busy, double idle);

/*
 * Computes the load between two readings. Returns false if it is unknown: no time has passed, CPUs
 * came or went, counters went backward, or a sensor has no value.
 */
bool ss_load_between(enum ss_source source, const struct ss_counters *from,
    const struct ss_counters *to, struct ss_load *load);

#endif
