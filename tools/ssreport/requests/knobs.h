/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_KNOBS_H
#define SSREPORT_KNOBS_H

#include "report.h"

/* Returns whether the report has requests to a service with several levels of its knobs. */
SS_NONNULL() bool ssreport_knobs_are_compared(const struct ssreport_report *report);

/*
 * Fills the table knobs: what each knob saves and costs, next to published figures. Requires the
 * filled table of savings. Adds findings.
 */
SS_NONNULL() void ssreport_knobs_fill(struct ssreport_report *report);

#endif
