/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_SPOOL_H
#define SSTRACE_SPOOL_H

/* A trace that stays in a temporary file until it is known to be complete. */

#include <stdio.h>

#include <showstopper/contract.h>

#include "trace/record.h"

struct sstrace_spool {
    struct ss_trace_sink sink;
    FILE *file; /* unnamed: gone when it is closed */
    uint64_t count;
    ss_time first_load; /* time of the first record that is not `free`; SS_TIME_NEVER: none */
    ss_time length;     /* time of the last record */
};

SS_MUST_USE SS_NONNULL(1) int sstrace_spool_open(
    struct sstrace_spool *spool, struct ss_error *error);

/* Gives all records to another sink, without ending that sink. May be called again. */
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_spool_play(
    struct sstrace_spool *spool, struct ss_trace_sink *to, struct ss_error *error);

SS_NONNULL()
void sstrace_spool_close(struct sstrace_spool *spool);

/* Opens an unnamed file for reading and writing. Returns its descriptor, or -1 and errno. */
SS_MUST_USE int sstrace_spool_file(void);

/* Sets the error from errno: the temporary file is not usable. Always returns -1. */
int sstrace_spool_fail(struct ss_error *error);

#endif
