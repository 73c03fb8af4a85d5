/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_GENERATE_H
#define SSTRACE_GENERATE_H

#include <stdio.h>

#include <showstopper/contract.h>

#include "options/values.h"
#include "trace/record.h"

struct sstrace_generator {
    const char *name;
    const char *summary;
    const struct ss_option *options;
    int (*generate)(const void *config, struct ss_trace_sink *sink, struct ss_error *error);
};

struct sstrace_generation {
    const struct sstrace_generator *generator; /* NULL: a trace is read instead */
    const char *text;                          /* "MAIN,name=value,..." */
    int symmetric;                             /* --symmetric */
};

/* Returns NULL if the name is unknown. */
SS_NONNULL()
const struct sstrace_generator *sstrace_generator_find(const char *name);

/* Generates the trace; `store` receives warnings. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int sstrace_generate(const struct sstrace_generation *generation,
    struct ss_option_store *store, struct ss_trace_sink *sink, struct ss_error *error);

SS_NONNULL()
void sstrace_generators_print(FILE *stream);

#endif
