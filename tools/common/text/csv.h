/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_CSV_H
#define SSREPORT_CSV_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "fields.h"
#include "record_warnings.h"

/*
 * Reads tables with a heading. Columns are found by name, in any case and order. Invalid lines are
 * reported with file, line and column, and the others are still read.
 */

/* ---- line by line ---- */

struct csv_reader {
    struct sstrace_input *input;
    const char *const *columns; /* NULL after the last; NULL instead of a list for all */
    unsigned optional;          /* bit i: column i may be missing, and its fields are then empty */
    size_t count;               /* number of columns, and of fields */
    struct sstrace_field fields[SSTRACE_PICKS]; /* fields of a row, in the order of the columns */
    bool unended;                               /* the row is the last line, without a newline */
    bool broken;                                /* reading the input failed */
    struct sstrace_table table;
};

enum csv_line {
    CSV_END,
    CSV_ROW,
    CSV_HEADING, /* a further heading, perhaps in another order, for the rows that follow */
    CSV_COMMENT, /* with as many commas as a row, so it may be meant as one */
    CSV_BAD,     /* the input's error says why; the caller clears it */
};

/*
 * Reads the heading: the first line that is neither empty nor a comment. There may be at most
 * SSTRACE_PICKS columns; if all are read, the fields are their names. Returns -1 with the input's
 * error set.
 */
int csv_begin(struct csv_reader *reader, struct sstrace_input *input, const char *const *columns,
    unsigned optional) SS_NONNULL(1, 2);

/* Reads the next line that is not empty, and skips comments that cannot be rows. */
enum csv_line csv_next(struct csv_reader *reader) SS_NONNULL();

/* Removes blanks at both ends of a field; blanks in quotes stay. */
void csv_trim(struct sstrace_field *field) SS_NONNULL();

/* ---- a whole table ---- */

/*
 * Invalid rows are skipped and noted, with the number of further ones; so is a last line without a
 * newline, which a killed run may leave.
 */
struct ssreport_csv {
    const char *name; /* of the file in its folder, also used in messages */
    const char *const
        *columns; /* at most SSTRACE_PICKS; NULL after the last. NULL instead of a list for all */
    unsigned optional; /* bit i: column i may be missing, and its fields are then empty */

    /* Takes the fields of one row, in the order of `columns`; returns false if they are invalid. */
    bool (*take)(void *context, const struct sstrace_field *fields);
    void *context;
    const char *const *why; /* what is wrong with the row that take() refused; NULL if unknown */

    /* Without `columns`: takes their names; returns false if they are invalid. */
    bool (*take_heading)(void *context, const struct sstrace_field *fields, size_t count);
};

/* Reads a table; without a folder its name is a path. Returns -1 if it cannot be read. */
SS_MUST_USE SS_NONNULL(2, 3) int ssreport_csv_read(const char *folder,
    const struct ssreport_csv *csv, struct ssreport_notes *notes, struct ss_error *error);

/* Parses a number; returns false if it is missing or invalid. */
SS_NONNULL()
bool ssreport_csv_number(const struct sstrace_field *field, double *value);

/* Parses a time of the wall clock into seconds since 1970; returns false if it is invalid. */
SS_NONNULL()
bool ssreport_csv_time(const struct sstrace_field *field, double *time);

/* Makes room for one more item in a list of `count`; returns false if out of memory. */
SS_NONNULL()
bool ssreport_csv_make_room(void **items, size_t count, size_t *capacity, size_t size);

#endif
