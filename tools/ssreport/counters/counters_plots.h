/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_COUNTERS_PLOTS_H
#define SSREPORT_COUNTERS_PLOTS_H

#include "page_parts.h"
#include "report.h"

/*
 * Draws counters against the load, one small picture for each counter: for each program in each
 * role and environment, with a color for each placement.
 */
SS_NONNULL(1, 2)
void ssreport_counters_plots_print(
    struct ssreport_page *page, const struct ssreport_report *report);

/*
 * Writes the script for the program of a row of the table counters-steps. If no counter is known at
 * two loads, writes nothing and returns false.
 */
SS_NONNULL(1, 2)
bool ssreport_counters_plots_write(FILE *script, const struct table_sheet *sheet, size_t row);

#endif
