/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_HEADING_H
#define SSTRACE_HEADING_H

/* The columns of a table in an unknown format: their names and likely meanings. */

#include <showstopper/contract.h>

#include "base/words.h"
#include "fields.h"
#include "samples.h"

struct sstrace_heading {
    struct text_input header; /* the line of names; its text is NULL without one */
    char separator;
    bool is_first_row; /* the first row is the line of names */
    size_t count;
};

enum sstrace_meaning {
    SSTRACE_MEANS_TIME,
    SSTRACE_MEANS_LOAD,
    SSTRACE_MEANS_IDLE,
    SSTRACE_MEANS_SERIES,

    /* Names that only count if no column has a clearer one. */
    SSTRACE_MEANS_UNIT_OF_TIME,
    SSTRACE_MEANS_PERCENT,
};

struct sstrace_guess {
    size_t number;  /* number of the first column with this meaning, from 1; 0 if absent */
    size_t matches; /* number of columns with this meaning */
};

/*
 * Checks whether the current line of `input`, which is the first row, or the last comment above it
 * is a line of names. Returns -1 if its quotes are invalid or memory is exhausted.
 */
SS_NONNULL(1, 2, 5)
int sstrace_heading_open(struct sstrace_heading *heading, struct text_input *input, char separator,
    const char *comment, const struct sstrace_import_options *options);

SS_NONNULL() void sstrace_heading_close(struct sstrace_heading *heading);

/* Returns the number of the column with this name, from 1; 0 if absent. */
SS_NONNULL()
size_t sstrace_heading_number(const struct sstrace_heading *heading, const char *name);

/*
 * Finds a column by its name or its number, from 1. Returns -1 with the input's error set if the
 * table has no such column.
 */
SS_NONNULL()
int sstrace_heading_find(const struct sstrace_heading *heading, struct text_input *input,
    const char *name, size_t *number);

SS_NONNULL()
struct sstrace_guess sstrace_heading_guess(
    const struct sstrace_heading *heading, enum sstrace_meaning meaning);

/* Fails with the question and the list of columns. Always returns -1. */
SS_NONNULL()
int sstrace_heading_refuse(
    const struct sstrace_heading *heading, struct text_input *input, const char *question);

/* Return the unit that the name of a column implies; the default unit or 0 if it implies none. */
SS_NONNULL()
enum sstrace_unit sstrace_heading_unit(const struct sstrace_heading *heading, size_t number);
SS_NONNULL()
int64_t sstrace_heading_time_unit(const struct sstrace_heading *heading, size_t number);

#endif
