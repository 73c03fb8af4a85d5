/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_TERMINAL_PLOT_H
#define SSTRACE_TERMINAL_PLOT_H

/* Divides a trace of any length into columns, and draws the columns on a terminal. */

#include <stdio.h>

#include <showstopper/contract.h>

#include "trace/record.h"

#define SSTRACE_COLUMNS_MAX 1000

struct sstrace_column {
    double controlled; /* part of the column's time that is not `free`, 0 to 1 */
    double free;       /* part of the column's time that is `free` */
    double area;       /* integral of the load over `controlled` */
    double min, max;   /* smallest and largest load; valid if `controlled` > 0 */
};

/*
 * The trace in columns of equal length, in constant memory. The vertical line of a step has no
 * effect.
 */
struct sstrace_columns {
    struct ss_trace_sink sink;
    ss_time length; /* length of the trace; if 0, each column shows the last record */
    size_t count;
    struct sstrace_column *items;
    size_t current; /* columns before this one are complete */
    struct ss_trace_record last;
    bool any;
};

/*
 * Opens a sink for the trace. Draw the columns after the trace has ended, then close them. `count`
 * is at least 1, and is limited to SSTRACE_COLUMNS_MAX. Fails only if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1) int sstrace_columns_open(
    struct sstrace_columns *columns, ss_time length, size_t count, struct ss_error *error);
SS_NONNULL() void sstrace_columns_close(struct sstrace_columns *columns);

/* Returns the mean load of a column with `controlled` > 0. */
SS_NONNULL() double sstrace_column_mean(const struct sstrace_column *column);

/*
 * Fits a drawing of at most 20 rows to the terminal at standard output; without a terminal, to
 * COLUMNS and LINES; without these, to 80 x 24.
 */
SS_NONNULL() void sstrace_plot_fit(size_t *columns, int *rows);

/*
 * Draws the columns. The drawing is five characters wider than the columns, and two or three lines
 * higher than the rows.
 */
SS_NONNULL()
void sstrace_plot_print(
    FILE *stream, const struct sstrace_columns *columns, int rows, bool unicode);

#endif
