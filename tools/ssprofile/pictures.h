/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_PICTURES_H
#define SSPROFILE_PICTURES_H

/* Pictures of profiles, as scripts for gnuplot. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ratios.h"
#include "sheet.h"

/* The width of bins in the picture: SSPROFILE_BIN, or less if all ratios would be in a few. */
SS_READS(1, 2) double ssprofile_histogram_bin(const struct ssprofile_series *series, size_t count);

/* One panel for each series, on one axis: how many ratios each bin has. */
SS_READS(2, 3)
void ssprofile_draw_histogram(FILE *script, const struct ssprofile_series *series, size_t count);

/* One row for each benchmark, sorted by the first series that has it. */
SS_READS(2, 3)
void ssprofile_draw_dots(FILE *script, const struct ssprofile_series *series, size_t count);

SS_READS(1, 2)
bool ssprofile_dots_are_logarithmic(const struct ssprofile_series *series, size_t count);

/*
 * The tests of a calibration, with their costs or, otherwise, their logarithms. `found` is the row
 * of the test that gave the result, if there is one.
 */
SS_NONNULL()
void ssprofile_draw_path(FILE *script, const struct table_sheet *tests, bool by_cost, size_t found);

#endif
