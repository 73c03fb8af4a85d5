/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_PLOT_H
#define SSTRACE_PLOT_H

/* A trace of any length in columns, and its drawing on a terminal. */

#include <stdio.h>

#include <showstopper/contract.h>

#include "trace/record.h"

#define SSTRACE_COLUMNS_MAX 1000

struct sstrace_column {
    double controlled;   /* share of the column's time that is not free, 0 to 1 */
    double free;         /* share that is */
    double area;         /* integral of the load over `controlled` */
    double min, largest; /* load; only where `controlled` is more than 0 */
};

/* The trace in columns of equal length, in constant memory. Of a step only its levels count. */
struct sstrace_columns {
    struct ss_trace_sink sink;
    ss_time length; /* of the whole trace; 0: each column holds the last record */
    size_t count;
    struct sstrace_column *items;
    size_t current; /* nothing is added to any before this one any more */
    struct ss_trace_record last;
    bool any;
};

/*
 * Then give it the trace; then draw; then close it. `count` is at least 1; where it is more than
 * SSTRACE_COLUMNS_MAX, it becomes that. Fails only for want of memory.
 */
SS_MUST_USE SS_NONNULL(1) int sstrace_columns_open(
    struct sstrace_columns *columns, ss_time length, size_t count, struct ss_error *error);
SS_NONNULL()
void sstrace_columns_close(struct sstrace_columns *columns);

/* Only where `controlled` is more than 0. */
SS_NONNULL()
double sstrace_column_mean(const struct sstrace_column *column);

/*
 * How many columns and rows there are for a drawing: in the window of standard output, else by
 * COLUMNS and LINES, else in 80 x 24; never more than 20 rows.
 */
SS_NONNULL()
void sstrace_plot_fit(size_t *columns, int *rows);

/* Takes five characters more in width than there are columns, and two or three lines more. */
SS_NONNULL()
void sstrace_plot_print(
    FILE *stream, const struct sstrace_columns *columns, int rows, bool unicode);

/* The next longer round time for marks on an axis, or 0. The shortest follows 0. */
ss_time sstrace_plot_step_after(ss_time step);

#endif
