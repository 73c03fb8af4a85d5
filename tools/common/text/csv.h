/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_CSV_H
#define TEXT_CSV_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "fields.h"
#include "record_warnings.h"

/*
 * Reads tables with a heading. Columns are found by name, ignoring case, in any order. Invalid
 * lines are reported with file, line and column; the remaining lines are still read.
 */

struct csv_reader {
    struct sstrace_input *input;
    const char *const *columns; /* names, ended by NULL; if `columns` itself is NULL, all columns
                                   are read */
    unsigned optional;          /* bit i: column i may be missing, and its fields are then empty */
    char separator;
    size_t count;                               /* number of columns and of fields */
    struct sstrace_field fields[SSTRACE_PICKS]; /* fields of a row, in the order of the columns */
    bool unended;                               /* the row is the last line, without a newline */
    bool broken;                                /* reading the input failed */
    struct sstrace_table table;
};

enum csv_line {
    CSV_END,
    CSV_ROW,
    CSV_HEADING, /* another heading for the rows that follow, perhaps in another order */
    CSV_COMMENT, /* a comment with as many separators as a row: it may be meant as a row */
    CSV_BAD,     /* the input's error has the reason; the caller clears it */
};

/*
 * Reads the heading: the first line that is neither empty nor a comment. There may be at most
 * SSTRACE_PICKS columns; if all are read, the fields are their names. Returns -1 with the input's
 * error set.
 */
int csv_begin(struct csv_reader *reader, struct sstrace_input *input, const char *const *columns,
    unsigned optional) SS_NONNULL(1, 2);

/* Like csv_begin(), but guesses the separator from the heading. */
int csv_begin_any(struct csv_reader *reader, struct sstrace_input *input,
    const char *const *columns, unsigned optional) SS_NONNULL(1, 2);

/* Reads the next line that is not empty; skips comments that cannot be rows. */
enum csv_line csv_next(struct csv_reader *reader) SS_NONNULL();

/* Removes blanks at both ends of a field; blanks in quotes stay. */
void csv_trim(struct sstrace_field *field) SS_NONNULL();

/*
 * A table that is read as a whole. Invalid rows are skipped; the first one is noted in full, with
 * the number of further ones. A last line without a newline, which a killed run may leave, is also
 * skipped.
 */
struct ssreport_csv {
    const char *name;           /* name of the file in its folder, also used in messages */
    const char *const *columns; /* at most SSTRACE_PICKS, ended by NULL; if `columns` itself is
                                   NULL, all columns are read */
    unsigned optional;          /* bit i: column i may be missing, and its fields are then empty */

    /* Takes the fields of one row, in the order of `columns`. Returns false if they are invalid. */
    bool (*take)(void *context, const struct sstrace_field *fields);
    void *context;
    const char *const *why; /* why `take` refused the row; NULL if unknown */

    /* Takes the names if `columns` is NULL. Returns false if they are invalid. */
    bool (*take_heading)(void *context, const struct sstrace_field *fields, size_t count);
};

/* Without a folder, the table's name is a path. Returns -1 if the table cannot be read. */
SS_MUST_USE SS_NONNULL(2, 3) int ssreport_csv_read(const char *folder,
    const struct ssreport_csv *csv, struct ssreport_notes *notes, struct ss_error *error);

/* Parses a number; returns false if it is missing or invalid. */
SS_NONNULL()
bool ssreport_csv_number(const struct sstrace_field *field, double *value);

/* Parses a time of the wall clock into seconds since 1970; returns false if it is invalid. */
SS_NONNULL()
bool ssreport_csv_time(const struct sstrace_field *field, double *time);

/* Returns whether a folder has a file, or a folder, with this name. */
SS_NONNULL() bool ssreport_has_file(const char *folder, const char *name);

#endif
