/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_GNUPLOT_H
#define SSTRACE_GNUPLOT_H

/* The drawing as a picture, which gnuplot makes. */

#include <showstopper/contract.h>

#include "terminal_plot.h"

/* About one for each dot of the picture's width. */
#define SSTRACE_PICTURE_COLUMNS SSTRACE_COLUMNS_MAX

/*
 * Writes a picture of `kind`, "svg" or "png", to `stream`, a file of the caller's, where it stands.
 * `length` is the trace's; `title`, which may be NULL, is shown letter for letter. Fails with
 * status 2 and says what to install when there is no gnuplot, or what gnuplot complains of; the
 * file may then hold a part of a picture.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int sstrace_plot_picture(FILE *stream, const char *kind,
    const struct sstrace_columns *columns, const char *title, struct ss_error *error);

#endif
