/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PUBLISHED_PLOTS_H
#define SSREPORT_PUBLISHED_PLOTS_H

#include "page_parts.h"
#include "report.h"

enum ssreport_error_plot { SSREPORT_LOAD, SSREPORT_MEAN_ERROR, SSREPORT_SQUARED_ERROR };

/*
 * Draws constant loads as bars, with a bar for each method. Rings show published values.
 * SSREPORT_LOAD: a picture for each target, with a group of bars for each workload. Errors: a
 * picture for each workload, with a group for each target.
 */
SS_NONNULL(1, 2)
void ssreport_error_plots_print(struct ssreport_page *page, const struct ssreport_report *report);

/*
 * Writes the script of the picture that has this row of the table constant-load. If no value can be
 * drawn, writes nothing and returns false.
 */
SS_NONNULL(1, 2)
bool ssreport_error_plots_write(
    FILE *script, const struct table_sheet *sheet, size_t row, enum ssreport_error_plot plot);

/*
 * Draws loads and throughputs of several runs over the same time: the replays of a trace at all
 * speeds, over the time of the trace, or all methods at a constant load.
 */
SS_NONNULL(1, 2, 3)
void ssreport_overlay_plots_print(
    struct ssreport_page *page, const struct ssreport_report *report, const char *experiment);

/*
 * Writes the script of the picture that shows `first`, a run of the experiment `replay` or
 * `accuracy`. Returns false without writing if the picture would show no other run.
 */
SS_NONNULL(1, 2, 3)
bool ssreport_overlay_plots_write(
    FILE *script, const struct ssreport_report *report, const struct ssreport_run *first);

#endif
