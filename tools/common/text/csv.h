/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_CSV_H
#define SSREPORT_CSV_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "fields.h"
#include "record_warnings.h"

/*
 * Tables with a heading, whose columns are found by their names, in any case and order. What cannot
 * be read is reported with file, line and column, and the rest is still read.
 */

/* ---- line by line ---- */

struct csv_reader {
    struct sstrace_input *input;
    const char *const *columns; /* NULL after the last; NULL: all */
    unsigned optional;          /* bit i: column i may be missing; its fields are then empty */
    size_t count;               /* columns, and fields */
    struct sstrace_field fields[SSTRACE_PICKS]; /* of a row, in the order of the columns */
    bool unended;                               /* the row is the last one, and has no end */
    bool broken;                                /* the input cannot be read to its end */
    struct sstrace_table table;
};

enum csv_line {
    CSV_END,
    CSV_ROW,
    CSV_HEADING, /* another one, perhaps in another order; it holds for the rows that follow */
    CSV_COMMENT, /* with as many commas as a row: it may be meant as one */
    CSV_BAD,     /* the input's error says why; the caller clears it */
};

/*
 * Reads the heading: the first line that is neither empty nor a comment. There may be at most
 * SSTRACE_PICKS columns; if all are read, the fields are their names. -1: the input's error says
 * why.
 */
int csv_begin(struct csv_reader *reader, struct sstrace_input *input, const char *const *columns,
    unsigned optional) SS_NONNULL(1, 2);

/* Reads on to the next line that is not empty. Other comments are passed over. */
enum csv_line csv_next(struct csv_reader *reader) SS_NONNULL();

/* Takes blanks off both ends, which quotes keep. */
void csv_trim(struct sstrace_field *field) SS_NONNULL();

/* ---- a whole table ---- */

/*
 * A line that is not a valid row is passed over and noted, with the number of others like it; so is
 * a last line without its end, which a killed run may leave.
 */
struct ssreport_csv {
    const char *name;           /* of the file, in its folder; for messages, too */
    const char *const *columns; /* at most SSTRACE_PICKS; NULL after the last. NULL: all of them */
    unsigned optional;          /* bit i: column i may be missing; its fields are then empty */

    /* Takes the fields of one row, in the order of `columns`; false: it makes no sense. */
    bool (*take)(void *context, const struct sstrace_field *fields);
    void *context;
    const char *const *why; /* what is wrong with the row that take() refused; NULL: unknown */

    /* Without `columns`: takes their names; false: they make no sense. */
    bool (*take_heading)(void *context, const struct sstrace_field *fields, size_t count);
};

/* `folder` NULL: the name is a path. -1: there is no such table; the error says why. */
SS_MUST_USE SS_NONNULL(2, 3) int ssreport_csv_read(const char *folder,
    const struct ssreport_csv *csv, struct ssreport_notes *notes, struct ss_error *error);

/* A number that must be there. */
SS_NONNULL()
bool ssreport_csv_number(const struct sstrace_field *field, double *value);

/* A moment of the wall clock, in seconds since 1970. */
SS_NONNULL()
bool ssreport_csv_time(const struct sstrace_field *field, double *time);

/* Room for one more item behind `count`, also of other lists; false: there is no memory. */
SS_NONNULL()
bool ssreport_csv_make_room(void **items, size_t count, size_t *capacity, size_t size);

#endif
