/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_LOAD_METER_H
#define SHOWSTOPPER_MEASURE_LOAD_METER_H

#include "platform/platform.h"

/* Takes readings and keeps the last two. */
struct ss_load_meter {
    int (*read)(void *context, struct ss_cpu_reading *reading); /* returns 0 or a negative errno */
    void *context;
    struct ss_cpu_reader reader; /* the context of `read` unless the caller sets another one */
    struct ss_cpu_reading last;
    struct ss_cpu_reading before;
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
