/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_ENERGY_PLOTS_H
#define SSREPORT_ENERGY_PLOTS_H

#include "page_parts.h"
#include "report.h"

/*
 * Iterations per watt-hour in each step, relative to per-chip of the same step: a picture for each
 * pair and round with any value, with a color for each placement.
 */
SS_NONNULL(1, 2)
void ssreport_energy_plots_print(struct ssreport_page *page, const struct ssreport_report *report);

/* The script of one of them: the rows of energy-steps that are of the n-th pair and round. */
SS_NONNULL(1, 2)
void ssreport_energy_plots_write(FILE *script, const struct table_sheet *sheet, size_t picture);

#endif
