/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_OVERLAY_PLOTS_H
#define SSREPORT_OVERLAY_PLOTS_H

#include "page_parts.h"
#include "report.h"

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
