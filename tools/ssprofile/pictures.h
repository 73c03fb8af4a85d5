/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_PICTURES_H
#define SSPROFILE_PICTURES_H

/* Pictures of profiles, as scripts for gnuplot. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ratios.h"
#include "sheet.h"

/*
 * Returns the width of bins: SSPROFILE_BIN, or less if all ratios would otherwise be in a few bins.
 */
SS_READS(1, 2) double ssprofile_histogram_bin(const struct ssprofile_series *series, size_t count);

/* Draws a histogram of each series, one below the other, with a common axis. */
SS_READS(2, 3)
void ssprofile_draw_histogram(FILE *script, const struct ssprofile_series *series, size_t count);

/* Draws a row of dots for each benchmark, sorted by the first series that has it. */
SS_READS(2, 3)
void ssprofile_draw_dots(FILE *script, const struct ssprofile_series *series, size_t count);

SS_READS(1, 2)
bool ssprofile_dots_are_logarithmic(const struct ssprofile_series *series, size_t count);

/*
 * Draws the tests of a calibration with their costs or, if `by_cost` is false, their mean ln
 * ratios. `found` is the row of the test with the result, if any.
 */
SS_NONNULL()
void ssprofile_draw_path(FILE *script, const struct table_sheet *tests, bool by_cost, size_t found);

/*
 * Draws the boxes of a sweep over the settings of a throttle. `kind`, the throttle, labels the
 * axis.
 */
SS_NONNULL()
void ssprofile_draw_boxes(FILE *script, const struct table_sheet *boxes, const char *kind);

#endif
