/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_GROUPED_VALUES_H
#define SSREPORT_GROUPED_VALUES_H

/* Groups to compare: values from columns of a file, or means and deviations. */

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "group_tests.h"

/*
 * Maximum number of groups. More are probably a mistake, such as a column of numbers instead of
 * names.
 */
#define GROUPED_MAX 200

/* The rows of one run in a group. */
struct grouped_run {
    char *name;
    double sum; /* sum of the values minus `origin` */
    size_t count;
};

struct grouped_group {
    char *name;
    struct grouped_run *runs; /* only while a file is read */
    size_t run_count, run_room;
    double *values; /* values minus `origin`, in ascending order; NULL if only `sample` is known */
    size_t count, room;
    struct stats_sample sample; /* `origin` is also subtracted from its mean */
};

struct grouped_values {
    struct grouped_group *groups; /* in the order of the input */
    size_t count, room;
    double origin;  /* the first value, subtracted from all values so that sums keep more digits */
    size_t skipped; /* rows without a value, a group or a run */
};

struct grouped_columns {
    const char *value;
    const char *group; /* NULL: all values are in one group, named like `value` */
    const char *run;   /* NULL: each row is a value; otherwise the mean of each run in a group is */
};

/*
 * Reads groups from a file with a heading, with fields separated by commas, semicolons, tabs, bars
 * or blanks. `path` "-" is standard input. Rows without a value, a group or a run are counted; an
 * invalid row is an error. Free the groups in any case.
 */
SS_MUST_USE SS_NONNULL() int grouped_values_read(struct grouped_values *groups, const char *path,
    const struct grouped_columns *columns, struct ss_error *error);

/* Adds a group from "[NAME=]MEAN,SD,N". The default name is the number of the group. */
SS_MUST_USE SS_NONNULL() int grouped_values_add(
    struct grouped_values *groups, const char *text, struct ss_error *error);

SS_NONNULL() void grouped_values_free(struct grouped_values *groups);

#endif
