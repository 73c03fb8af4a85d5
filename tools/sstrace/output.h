/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_OUTPUT_H
#define SSTRACE_OUTPUT_H

/* The forms in which a finished trace is written: compiled, text, drawing. */

#include <showstopper/contract.h>

#include "spool.h"
#include "trace_options.h"

/* Returns "svg" or "png", the suffix of the path; NULL for any other, or if the path is NULL. */
const char *sstrace_picture_kind(const char *path);

/*
 * Writes the trace to the output of the request: a file, whole or not at all, or standard output.
 */
SS_MUST_USE SS_NONNULL(1, 2) int sstrace_output_write(
    const struct sstrace_request *request, struct sstrace_spool *spool, struct ss_error *error);

/* Writes the trace to a stream. The caller checks the stream for errors. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int sstrace_output_print(const struct sstrace_request *request,
    struct sstrace_spool *spool, FILE *stream, struct ss_error *error);

#endif
