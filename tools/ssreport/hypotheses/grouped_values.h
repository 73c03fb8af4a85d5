/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_GROUPED_VALUES_H
#define SSREPORT_GROUPED_VALUES_H

/* Groups to be compared: values from columns of a file, or means and deviations. */

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "group_tests.h"

/* More groups than this are probably a mistake: a column of numbers instead of names. */
#define GROUPED_MAX 200

/* The rows of one run in a group. */
struct grouped_run {
    char *name;
    double sum; /* of values minus `origin` */
    size_t count;
};

struct grouped_group {
    char *name;
    struct grouped_run *runs; /* only while a file is read */
    size_t run_count, run_room;
    double *values; /* minus `origin`, in ascending order; NULL if only sample is known */
    size_t count, room;
    struct stats_sample sample; /* its mean is minus `origin`, too */
};

struct grouped_values {
    struct grouped_group *groups; /* in the order of the input */
    size_t count, room;
    double origin;  /* the first value: without it, sums keep more digits */
    size_t skipped; /* rows without a value, a group or a run */
};

struct grouped_columns {
    const char *value;
    const char *group; /* NULL: all values are in one group, named like `value` */
    const char *run;   /* NULL: every row counts; otherwise the mean of each run of a group does */
};

/*
 * Reads groups from a file with a heading, with fields separated by commas, semicolons, tabs, bars
 * or blanks. `path` "-" is standard input. Rows without a value, a group or a run are counted; an
 * invalid row is an error. Free the groups in any case.
 */
SS_MUST_USE SS_NONNULL() int grouped_values_read(struct grouped_values *groups, const char *path,
    const struct grouped_columns *columns, struct ss_error *error);

/*
 * Adds a group "[NAME=]MEAN,SD,N". Without a name, its number is its name.
 */
SS_MUST_USE SS_NONNULL() int grouped_values_add(
    struct grouped_values *groups, const char *text, struct ss_error *error);

SS_NONNULL() void grouped_values_free(struct grouped_values *groups);

#endif
