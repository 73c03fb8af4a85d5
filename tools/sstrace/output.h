/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_OUTPUT_H
#define SSTRACE_OUTPUT_H

/* Writes a finished trace: compiled, as text, or as a drawing. */

#include <showstopper/contract.h>

#include "trace_options.h"
#include "trace_spool.h"

/* Returns whether the request is for a picture, which the Python package draws. */
SS_NONNULL() static inline bool sstrace_is_picture(const struct sstrace_request *request) {
    return request->plot && request->output && !request->help && !request->version;
}

/*
 * Writes the trace to the output of the request: a file, whole or not at all, or standard output.
 * For a picture, instead replaces standard input with the data for sstrace_picture_execute().
 */
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_output_write(const struct sstrace_request *request,
    const struct sstrace_spooled_trace *trace, struct ss_error *error);

/* Writes the trace to a stream. The caller checks the stream for errors. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int sstrace_output_print(const struct sstrace_request *request,
    const struct sstrace_spooled_trace *trace, FILE *stream, struct ss_error *error);

/*
 * Replaces this process by the Python package, which draws the prepared picture and writes it to
 * `path`, whole or not at all. `title` may be NULL. Returns only on failure.
 */
SS_MUST_USE SS_NONNULL(1) int sstrace_picture_execute(
    const char *path, const char *title, struct ss_error *error);

#endif
