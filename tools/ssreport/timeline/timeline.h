/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_TIMELINE_H
#define SSREPORT_TIMELINE_H

#include <stdio.h>

#include <showstopper/contract.h>

#include "report.h"

/*
 * Writes all records over time, in the JSON trace format that Perfetto and chrome://tracing read:
 * target, load and duty as counters, states and iterations of each instance as slices, and stages
 * and events as marks. Records of showstopper and of ssrequest keep their wall-clock times, so
 * records of one experiment are side by side. Sets `left_out` to the number of events that damaged
 * records place at an impossible time.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssreport_timeline_write(
    FILE *stream, const struct ssreport_report *report, size_t *left_out, struct ss_error *error);

#endif
