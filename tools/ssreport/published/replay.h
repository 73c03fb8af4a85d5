/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_REPLAY_H
#define SSREPORT_REPLAY_H

#include "report.h"

/*
 * Fills the table of traces at several speeds. Adds a note to a run whose iterations are not in
 * proportion to its time. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1) int ssreport_replay_fill(struct ssreport_report *report);

/*
 * Fills the table of throughputs over a trace next to those of the published Table 3, from the
 * tables `replay` and `prediction`.
 */
SS_NONNULL(1) void ssreport_throughput_published_fill(const struct ssreport_report *report);

#endif
