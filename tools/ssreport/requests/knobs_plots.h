/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_KNOBS_PLOTS_H
#define SSREPORT_KNOBS_PLOTS_H

/* Pictures of a service at levels of knobs, as in the publication that tradeoffs follows. */

#include "page_parts.h"
#include "report.h"

enum ssreport_knobs_columns { SSREPORT_COLUMN_PER_ARRIVAL, SSREPORT_COLUMN_PER_PIN };

/*
 * Write scripts for gnuplot about the service of a point with knobs. If no two levels can be drawn,
 * they write nothing and return false.
 *
 * The first one has a row for the mean response time, the 95th percentile, the power if it is
 * known, and the success ratio, each against the rate; dashed lines are the limits up to which a
 * service is underloaded. It has a column for each arrival, or for each pin with the arrival of
 * the point, if other knobs are crossed with several pins. The second one has power against the
 * mean response time.
 */
bool ssreport_knobs_plot_grid(FILE *script, const struct ssreport_report *report, size_t first,
    enum ssreport_knobs_columns columns);
bool ssreport_knobs_plot_cost(FILE *script, const struct ssreport_report *report, size_t first);

/* Prints these pictures of each service. */
SS_NONNULL(1, 2)
void ssreport_knobs_plots_print(struct ssreport_page *page, const struct ssreport_report *report);

#endif
