/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TRACE_TEXT_H
#define SHOWSTOPPER_TRACE_TEXT_H

#include <stdio.h>

#include "trace/record.h"

/*
 * Reads the text form. Messages have the form "NAME:LINE:COLUMN: what was expected", with the
 * line itself in the same message. Status 2. Empty (no record) is an error, too.
 */
int ss_trace_text_read(
    FILE *stream, const char *name, struct ss_trace_sink *sink, struct ss_error *error);

/* One line, from which the same record is read again to the last bit. */
void ss_trace_text_write(FILE *stream, const struct ss_trace_record *record);

#endif
