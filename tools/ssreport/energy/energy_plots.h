/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_ENERGY_PLOTS_H
#define SSREPORT_ENERGY_PLOTS_H

#include "page_parts.h"
#include "report.h"

/*
 * Draws iterations per watt-hour in each step, relative to the placement per-chip in the same step:
 * one picture for each pair and round, with a color for each placement.
 */
SS_NONNULL(1, 2)
void ssreport_energy_plots_print(struct ssreport_page *page, const struct ssreport_report *report);

/* Writes the script of one picture, from the rows of energy-steps with the n-th pair and round. */
SS_NONNULL(1, 2)
void ssreport_energy_plots_write(FILE *script, const struct table_sheet *sheet, size_t picture);

#endif
