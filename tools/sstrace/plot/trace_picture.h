/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_TRACE_PICTURE_H
#define SSTRACE_TRACE_PICTURE_H

/* Draws a trace as a picture, with gnuplot. */

#include <showstopper/contract.h>

#include "terminal_plot.h"

/* About one column for each pixel of the picture's width. */
#define SSTRACE_PICTURE_COLUMNS SSTRACE_COLUMNS_MAX

/*
 * Writes a picture of `kind`, "svg" or "png", to `stream` at its current position. `title`, which
 * may be NULL, appears unchanged. On failure, the message says what to install or repeats gnuplot's
 * message, and `stream` may contain a part of a picture.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int sstrace_plot_picture(FILE *stream, const char *kind,
    const struct sstrace_columns *columns, const char *title, struct ss_error *error);

#endif
