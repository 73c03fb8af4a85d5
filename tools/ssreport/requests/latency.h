/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LATENCY_H
#define SSREPORT_LATENCY_H

/* Response times and capacities of the experiment latency, in tables with one row per run. */

#include "report.h"

/* Fills the tables latency and latency-capacity. */
SS_NONNULL(1) void ssreport_latency_fill(struct ssreport_report *report);

#endif
