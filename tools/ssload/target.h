/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSLOAD_TARGET_H
#define SSLOAD_TARGET_H

#include "trace/file.h"

/* A trace, played in a loop as by showstopper's trace module `file`. Zeroed: no trace. */
struct ssload_target {
    struct ss_trace_records records;
    ss_time loop_from; /* where a loop restarts: the end of a leading `free` section */
    ss_time end;
};

int ssload_target_open(struct ssload_target *target, const char *path, struct ss_error *error);

/* Returns the target at a time since the start; NaN in a `free` section or without a trace. */
double ssload_target_at(const struct ssload_target *target, ss_time time);

void ssload_target_close(struct ssload_target *target);

#endif
