/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_PICTURES_H
#define SSPROFILE_PICTURES_H

/* Pictures of profiles, as scripts for gnuplot. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ratios.h"
#include "ssreport/sheet.h"

/* One panel for each series, on one axis: how many ratios lie in each bin. */
SS_READS(2, 3)
void ssprofile_draw_histogram(FILE *script, const struct ssprofile_series *series, size_t count);

/* One row for each benchmark, sorted by the first series that has it. */
SS_READS(2, 3)
void ssprofile_draw_dots(FILE *script, const struct ssprofile_series *series, size_t count);

SS_READS(1, 2)
bool ssprofile_dots_are_logarithmic(const struct ssprofile_series *series, size_t count);

/* The tests of a calibration, of which `by_cost` tells the method that judged them. */
SS_NONNULL()
void ssprofile_draw_path(FILE *script, const struct ssreport_sheet *tests, bool by_cost);

#endif
