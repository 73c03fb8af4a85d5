/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_LOAD_H
#define SHOWSTOPPER_MEASURE_LOAD_H

#include <stdbool.h>

#include <showstopper/feedback.h>

#include "platform/platform.h"

/* The load between two readings from one source. */
struct ss_load {
    double seconds;    /* time between the readings */
    double load;       /* 1 - (idle + iowait) / capacity, used / capacity, or a sensor's value */
    double load_ticks; /* busy ticks over all ticks, as in mpstat, sar and top; NaN if unknown */
};

/*
 * The formulas of the load for samples and statistics; modules have that of control in
 * modules/feedback/estimate.h. `capacity` is the CPU time that was available, in the unit of the
 * other argument.
 */
double ss_load_of_idle(double idle, double capacity);
double ss_load_of_used(double used, double capacity);
double ss_load_of_ticks(double busy, double idle);

/*
 * Computes the load between two readings. Returns false if it is unknown: no time has passed, CPUs
 * were added or removed, counters went backward, or a sensor has no value.
 */
bool ss_load_between(enum ss_source source, const struct ss_counters *from,
    const struct ss_counters *to, struct ss_load *load);

/* A meter takes readings and keeps the last two. */
struct ss_load_meter {
    int (*read)(void *context, struct ss_cpu_reading *reading); /* returns 0 or a negative errno */
    void *context;
    struct ss_cpu_reader reader; /* the context of `read` unless the caller sets another one */
    struct ss_cpu_reading last;
    struct ss_cpu_reading previous;
};

/* Initializes a closed meter. */
#define SS_LOAD_METER_CLOSED                                                                       \
    { .reader = SS_CPU_READER_CLOSED }

/* Opens the meter like ss_platform_cpu_times_open(). Takes no reading. The meter must not move. */
int ss_load_meter_open(struct ss_load_meter *meter, const struct ss_source_request *request,
    const struct ss_cpus *cpus, const struct ss_platform_roots *roots, struct ss_error *error);

/* Takes a reading and keeps the previous one. Returns 0 or a negative errno. */
int ss_load_meter_read(struct ss_load_meter *meter);

void ss_load_meter_close(struct ss_load_meter *meter);

#endif
