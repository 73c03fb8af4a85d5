/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_TRACE_PICTURE_H
#define SSTRACE_TRACE_PICTURE_H

/* Hands a trace to the Python package, which draws it as a picture. */

#include <showstopper/contract.h>

#include "terminal_plot.h"

/* About one column for each pixel of the picture's width. */
#define SSTRACE_PICTURE_COLUMNS SSTRACE_COLUMNS_MAX

/*
 * Replaces standard input with the trace's length in nanoseconds and a table of its columns. The
 * loads of a column that is free are empty.
 */
SS_MUST_USE SS_NONNULL(1) int sstrace_picture_prepare(
    const struct sstrace_columns *columns, struct ss_error *error);

/*
 * Replaces this process by one that draws standard input into the file at `path`, whole or not at
 * all. `title` may be NULL. Returns only if the Python package is not available.
 */
SS_MUST_USE SS_NONNULL(1) int sstrace_picture_execute(
    const char *path, const char *title, struct ss_error *error);

#endif
