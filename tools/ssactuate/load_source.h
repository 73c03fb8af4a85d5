/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_LOAD_SOURCE_H
#define SSACTUATE_LOAD_SOURCE_H

#include <showstopper/trace.h>

#include "actuator.h"
#include "policy.h"

/* Reads the load from the source of a policy. */
struct ssactuate_load {
    enum ssactuate_source source;
    struct ss_counter_reader reader;
    struct ss_counters last;
    bool is_open; /* the reader is open */
    struct ss_trace_records trace;
    char *samples_path;                      /* the path of samples.csv; owned */
    pid_t side;                              /* pid of the side command; 0: not running */
    const struct ssactuate_running *running; /* the side if it is a process group, or NULL */
    uint64_t used;                           /* CPU time of the side at the last sample */
    ss_time begin, last_time; /* time when the source was opened, and time of the last sample */
    double cpus;              /* number of CPUs; the load is 1 if all are busy */
};

SS_MUST_USE SS_NONNULL() int ssactuate_load_open(struct ssactuate_load *load,
    const struct ssactuate_policy *policy, const struct ssactuate_machine *machine,
    struct ss_error *error);

/* Returns the load since the last sample; NaN if it is unknown. */
SS_NONNULL() double ssactuate_load_sample(struct ssactuate_load *load, ss_time now);

SS_NONNULL() void ssactuate_load_close(struct ssactuate_load *load);

/* Returns the load in the last complete row of samples.csv; NaN if the file is older than 1 min. */
SS_NONNULL() double ssactuate_load_of_samples(const char *path);

#endif
