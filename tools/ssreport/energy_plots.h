/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_ENERGY_PLOTS_H
#define SSREPORT_ENERGY_PLOTS_H

#include "report.h"

/*
 * Iterations per watt-hour in each step, relative to per-chip of the same step: a picture for each
 * pair and round of which anything is known, with a color for each placement.
 */
void ssreport_energy_plots_print(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without);

/* One of them as a script: all rows of the sheet energy-steps that are of the pair in row `first`.
 */
void ssreport_energy_plots_write(FILE *script, const struct ssreport_sheet *sheet, size_t first);

#endif
