/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_CSV_H
#define SSREPORT_CSV_H

#include <stdbool.h>

#include "fields.h"
#include "record_warnings.h"

/*
 * A table with a heading, of which the named columns are read. A line that is no row of it is
 * passed over and noted, as often as there is one; so is the last one without its end, which is
 * what a run leaves that was killed.
 */
struct ssreport_csv {
    const char *name;           /* of the file, in its folder */
    const char *const *columns; /* at most SSTRACE_PICKS; NULL after the last. NULL: all of them */
    unsigned optional;          /* bit i: column i may be missing; its fields are then empty */

    /* Takes the fields of one row, in the order of `columns`; false: it makes no sense. */
    bool (*take)(void *context, const struct sstrace_field *fields);
    void *context;
    const char *const *why; /* what is wrong with the row that take() refused; NULL: unknown */

    /* Without `columns`: takes their names; false: they make no sense. */
    bool (*take_heading)(void *context, const struct sstrace_field *fields, size_t count);
};

/* -1: there is no such table; the error says why. */
int ssreport_csv_read(const char *folder, const struct ssreport_csv *csv,
    struct ssreport_notes *notes, struct ss_error *error);

/* A number that must be there. */
bool ssreport_csv_number(const struct sstrace_field *field, double *value);

/* A moment of the wall clock, in seconds since 1970. */
bool ssreport_csv_time(const struct sstrace_field *field, double *time);

/* Room for one more item behind `count`, also of other lists; false: there is no memory. */
bool ssreport_csv_make_room(void **items, size_t count, size_t *capacity, size_t size);

#endif
