/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_FLEET_PLOTS_H
#define SSREPORT_FLEET_PLOTS_H

#include "fleet.h"
#include "page_parts.h"

/* Draws the sum of the loads of all nodes over time, and that of their targets. */
SS_NONNULL(1, 2)
void ssreport_fleet_plot_sum(struct ssreport_page *page, const struct ssreport_fleet *fleet);

/* Draws a histogram of the mean errors of the nodes. */
SS_NONNULL(1, 2)
void ssreport_fleet_plot_errors(struct ssreport_page *page, const struct ssreport_fleet *fleet);

/* Draws maps of all nodes over time: the load, and the distance from the target. */
SS_NONNULL(1, 2)
void ssreport_fleet_plot_map(struct ssreport_page *page, const struct ssreport_fleet *fleet);

/*
 * Draws a figure of each node in the table fleet-prediction, and the interval predicted for it. The
 * names of its columns begin with `figure`; `axis` is the label of the axis.
 */
SS_NONNULL(1, 2, 3, 4)
void ssreport_fleet_plot_prediction(struct ssreport_page *page, const struct table_sheet *sheet,
    const char *figure, const char *axis);

#endif
