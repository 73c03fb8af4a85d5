/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_CSV_H
#define TEXT_CSV_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "fields.h"

/* Reads tables with a heading. Columns are found by name, ignoring case, in any order. */

struct csv_reader {
    struct text_input *input;
    const char *const *columns; /* names, NULL-terminated */
    char separator;
    size_t count;                             /* number of columns and of fields */
    struct text_field fields[TEXT_PICKS_MAX]; /* fields of a row, in the order of the columns */
    bool unended;                             /* the row is the last line, without a newline */
    struct text_table table;
};

/*
 * Reads the heading: the first line that is neither empty nor a comment. There may be at most
 * TEXT_PICKS_MAX columns. If `separator` is 0, guesses it from the heading. Returns -1 with the
 * input's error set.
 */
int csv_begin(struct csv_reader *reader, struct text_input *input, const char *const *columns,
    char separator) SS_NONNULL();

/*
 * Reads the next row. Returns 1, 0 at the end, or -1 with the input's error set. Skips comments.
 * Another heading, as in concatenated files, applies to the rows after it.
 */
int csv_next(struct csv_reader *reader) SS_NONNULL();

/* Removes blanks at both ends of a field, even if it was in quotes. */
void csv_trim(struct text_field *field) SS_NONNULL();

/* Parses a number; returns false if it is missing or invalid. */
SS_NONNULL() bool csv_number(const struct text_field *field, double *value);

#endif
