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
    SSREPORT_OVER_DUTY, /* of points at the same rate, whatever throttles */
};

/*
 * The scripts for gnuplot. False: there are not two points that differ, and nothing is written.
 * `first` is a point; with the first two, those of its series are drawn.
 */
bool ssreport_responses_plot(FILE *script, const struct ssreport_report *report, size_t first,
    enum ssreport_abscissa abscissa);

/* The 95th percentile of all series of one service against the rate: with two series at least. */
bool ssreport_responses_plot_series(
    FILE *script, const struct ssreport_report *report, size_t first);

/* Response times, and then requests and the CPU load, over time. False: there are no two seconds.
 */
bool ssreport_responses_plot_times(FILE *script, const struct ssreport_responses *responses);
bool ssreport_responses_plot_counts(
    FILE *script, const struct ssreport_responses *responses, const struct ssreport_run *beside);

/* The pictures of the section on requests. */
SS_NONNULL(1, 2)
void ssreport_responses_plots_print(
    struct ssreport_page *page, const struct ssreport_report *report);

#endif
