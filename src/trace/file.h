/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TRACE_FILE_H
#define SHOWSTOPPER_TRACE_FILE_H

#include <stdio.h>

#include "trace/record.h"

/*
 * Reads a whole trace in either form, without calling the sink's end(). `name` is used in messages.
 * Returns 0, or -1 with `error` set.
 */
int ss_trace_read(
    FILE *stream, const char *name, struct ss_trace_sink *sink, struct ss_error *error);

/* Reads a trace into memory. Free it with ss_trace_records_free(). */
int ss_trace_load(const char *path, struct ss_trace_records *records, struct ss_error *error);

#endif
