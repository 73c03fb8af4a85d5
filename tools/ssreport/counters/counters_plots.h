/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_COUNTERS_PLOTS_H
#define SSREPORT_COUNTERS_PLOTS_H

#include "page_parts.h"
#include "report.h"

/*
 * Draws each counter against the load in a small picture, for each program in each role and
 * environment. Placements differ in color.
 */
SS_NONNULL(1, 2)
void ssreport_counters_plots_print(
    struct ssreport_page *page, const struct ssreport_report *report);

/*
 * Writes the script for the program in this row of the table counters-steps. Returns false without
 * writing if no counter is known at two loads.
 */
SS_NONNULL(1, 2)
bool ssreport_counters_plots_write(FILE *script, const struct table_sheet *sheet, size_t row);

#endif
