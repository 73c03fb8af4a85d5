/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_FLEET_PLOTS_H
#define SSREPORT_FLEET_PLOTS_H

#include "fleet.h"
#include "page_parts.h"

/* Draws the sums of the loads and of the targets of all nodes over time. */
SS_NONNULL(1, 2)
void ssreport_fleet_plot_sum(struct ssreport_page *page, const struct ssreport_fleet *fleet);

/* Draws a histogram of the mean errors of the nodes. */
SS_NONNULL(1, 2)
void ssreport_fleet_plot_errors(struct ssreport_page *page, const struct ssreport_fleet *fleet);

/* Draws two maps of all nodes over time: the load, and its distance from the target. */
SS_NONNULL(1, 2)
void ssreport_fleet_plot_map(struct ssreport_page *page, const struct ssreport_fleet *fleet);

/*
 * Draws a figure of each node in the table fleet-prediction, and its predicted interval, from the
 * columns whose names begin with `figure`.
 */
SS_NONNULL(1, 2, 3, 4)
void ssreport_fleet_plot_prediction(struct ssreport_page *page, const struct table_sheet *sheet,
    const char *figure, const char *axis);

#endif
