/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TRACE_TEXT_H
#define SHOWSTOPPER_TRACE_TEXT_H

#include <stdio.h>

#include "trace/record.h"

/*
 * Reads the text form. Messages have the form "NAME:LINE:COLUMN: what was expected", followed by
 * the line itself. A trace without records is an error.
 */
int ss_trace_text_read(
    FILE *stream, const char *name, struct ss_trace_sink *sink, struct ss_error *error);

/* Writes one line, which reads back as exactly the same record. */
void ss_trace_text_write(FILE *stream, const struct ss_trace_record *record);

#endif
