/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_STUDY_PLOTS_H
#define SSREPORT_STUDY_PLOTS_H

#include "page_parts.h"
#include "study_points.h"

/* Draws throughput along the axis, with a line and intervals for each series. */
SS_NONNULL()
void ssreport_study_plot(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_study_points *points);

#endif
