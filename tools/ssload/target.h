/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSLOAD_TARGET_H
#define SSLOAD_TARGET_H

#include "trace/file.h"

/* A trace, played as showstopper's trace module `file` plays it: in a loop. Zeroed: none. */
struct ssload_target {
    struct ss_trace_records records;
    ss_time loop_from; /* behind a `free` stretch at the beginning */
    ss_time end;
};

int ssload_target_open(struct ssload_target *target, const char *path, struct ss_error *error);

/* The target at this time after the start; NaN in a `free` stretch and without a trace. */
double ssload_target_at(const struct ssload_target *target, ss_time time);

void ssload_target_close(struct ssload_target *target);

#endif
