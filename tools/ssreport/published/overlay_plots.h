/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_OVERLAY_PLOTS_H
#define SSREPORT_OVERLAY_PLOTS_H

#include "page_parts.h"
#include "report.h"

/*
 * Draws several runs over the same time: the replays of a trace at all speeds, over the time of the
 * trace, or all methods at a constant load. One picture has the loads and the throughputs.
 */
SS_NONNULL(1, 2, 3)
void ssreport_overlay_plots_print(
    struct ssreport_page *page, const struct ssreport_report *report, const char *experiment);

/*
 * Writes the script of one picture, for the runs that belong together with `first`, a run of the
 * experiment `replay` or `accuracy`. If there is only one, writes nothing and returns false.
 */
SS_NONNULL(1, 2, 3)
bool ssreport_overlay_plots_write(
    FILE *script, const struct ssreport_report *report, const struct ssreport_run *first);

#endif
