/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LOADLINE_PLOTS_H
#define SSREPORT_LOADLINE_PLOTS_H

/* Draws throughput, response times and power against load. */

#include "load_series.h"
#include "page_parts.h"

SS_NONNULL(1, 2)
void ssreport_loadline_plot(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_load_series *series);

#endif
