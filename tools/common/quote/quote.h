/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOTE_QUOTE_H
#define QUOTE_QUOTE_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>

/* Writes a text as a CSV field, quoted if necessary. */
SS_NONNULL() void quote_csv(FILE *stream, const char *text);

/*
 * Returns whether the line ends with a backslash that continues it in a shell: one outside of
 * comments and single quotes.
 */
SS_NONNULL() bool quote_line_is_continued(const char *line);

#endif
