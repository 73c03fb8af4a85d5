/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_ENERGY_PLOTS_H
#define SSREPORT_ENERGY_PLOTS_H

#include "page_parts.h"
#include "report.h"

/*
 * Draws the iterations per watt-hour in each step, absolute and relative to the placement per-chip
 * in the same step: for each pair and round, with a color for each placement.
 */
SS_NONNULL(1, 2)
void ssreport_energy_plots_print(struct ssreport_page *page, const struct ssreport_report *report);

enum ssreport_energy_plot { SSREPORT_PER_WH_RELATIVE, SSREPORT_PER_WH };

/*
 * Writes the script of one picture, from the rows of the table energy-steps for the n-th pair and
 * round.
 */
SS_NONNULL(1, 2)
void ssreport_energy_plots_write(
    FILE *script, const struct table_sheet *sheet, size_t picture, enum ssreport_energy_plot plot);

#endif
