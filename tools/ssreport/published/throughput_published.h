/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_THROUGHPUT_PUBLISHED_H
#define SSREPORT_THROUGHPUT_PUBLISHED_H

#include "report.h"

/*
 * Fills the table of throughputs over a trace next to those of the published Table 3, from the
 * tables `replay` and `prediction`.
 */
SS_NONNULL(1) void ssreport_throughput_published_fill(const struct ssreport_report *report);

/* Returns the seconds of a published replay at a speed; the longest of Table 3 has speed 1. */
SS_NONNULL(1) double ssreport_published_seconds(const struct ssreport_report *report, double speed);

#endif
