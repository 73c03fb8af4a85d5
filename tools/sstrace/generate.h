/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_GENERATE_H
#define SSTRACE_GENERATE_H

#include <stdio.h>

#include <showstopper/contract.h>

#include "options/values.h"
#include "trace/record.h"

/* A generated trace: the sampled targets of a trace module, or bursts. */
struct sstrace_generation {
    const char *name; /* name of the option, such as "sine"; NULL to read a trace instead */
    const char *text; /* "MAIN,name=value,..." */
    int symmetric;    /* --symmetric */
};

/* Passes the trace to `sink`, without ending the sink. Adds warnings to `store`. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int sstrace_generate(const struct sstrace_generation *generation,
    struct ss_option_store *store, struct ss_trace_sink *sink, struct ss_error *error);

SS_NONNULL() void sstrace_generators_print(FILE *stream);

#endif
