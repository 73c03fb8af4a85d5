/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RESPONSES_PLOTS_H
#define SSREPORT_RESPONSES_PLOTS_H

/* Pictures of response times: against rate, CPU load and duty, and over time. */

#include "page_parts.h"
#include "report.h"

/* The horizontal axis of a picture. */
enum ssreport_abscissa {
    SSREPORT_OVER_RATE,
    SSREPORT_OVER_LOAD,
    SSREPORT_OVER_DUTY, /* for points at the same rate, however throttled */
};

/*
 * The following functions write scripts for gnuplot, and return false if there is too little to
 * draw. `first` is the number of a point.
 */

/* Draws the points of its series or, over duty, all points of its service at its rate. */
bool ssreport_responses_plot(FILE *script, const struct ssreport_report *report, size_t first,
    enum ssreport_abscissa abscissa);

/* Draws the 95th percentiles of the series of its service, at least two, against the rate. */
bool ssreport_responses_plot_series(
    FILE *script, const struct ssreport_report *report, size_t first);

/*
 * Draws response times, requests and CPU load over time. Returns false if there are fewer than two
 * seconds.
 */
bool ssreport_responses_plot_times(FILE *script, const struct ssreport_responses *responses);
bool ssreport_responses_plot_counts(
    FILE *script, const struct ssreport_responses *responses, const struct ssreport_run *beside);

/* Prints the pictures of the section on requests. */
SS_NONNULL(1, 2)
void ssreport_responses_plots_print(
    struct ssreport_page *page, const struct ssreport_report *report);

#endif
