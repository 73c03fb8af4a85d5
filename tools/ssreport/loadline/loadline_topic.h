/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LOADLINE_TOPIC_H
#define SSREPORT_LOADLINE_TOPIC_H

#include "load_series.h"
#include "topic.h"

/* Reports how much of its maximum throughput a machine reaches at a load, and how much is left. */
extern const struct ssreport_topic ssreport_loadline_topic;

/* Draws throughput, response times and power against load. */
SS_NONNULL(1, 2)
void ssreport_loadline_plot(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_load_series *series);

#endif
