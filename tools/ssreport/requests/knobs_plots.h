/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_KNOBS_PLOTS_H
#define SSREPORT_KNOBS_PLOTS_H

/* Pictures of a service at levels of knobs, as in the publication that tradeoffs follows. */

#include "page_parts.h"
#include "report.h"

/*
 * Write scripts for gnuplot about the service of a point with knobs, with all arrivals. If no two
 * levels can be drawn, they write nothing and return false.
 *
 * The first one has a column for each arrival, and a row for the mean response time, the 95th
 * percentile, the power if it is known, and the success ratio, each against the rate; dashed lines
 * are the limits up to which a service is underloaded. The second one has power against the mean
 * response time.
 */
bool ssreport_knobs_plot_grid(FILE *script, const struct ssreport_report *report, size_t first);
bool ssreport_knobs_plot_cost(FILE *script, const struct ssreport_report *report, size_t first);

/* Prints these pictures of each service. */
SS_NONNULL(1, 2)
void ssreport_knobs_plots_print(struct ssreport_page *page, const struct ssreport_report *report);

#endif
