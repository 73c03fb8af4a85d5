/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_SOURCE_H
#define SSTRACE_SOURCE_H

/* The source of the trace: a file, measurements or a generator. */

#include <showstopper/contract.h>

#include "trace_options.h"

/* Gives all records to the sink, without transformations, and ends the sink. */
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_source_run(
    const struct sstrace_request *request, struct ss_trace_sink *sink, struct ss_error *error);

/* Passes all records through the transformations of the request to `end`, and ends it. */
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_run(
    const struct sstrace_request *request, struct ss_trace_sink *end, struct ss_error *error);

#endif
