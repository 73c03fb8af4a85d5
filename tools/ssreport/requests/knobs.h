/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_KNOBS_H
#define SSREPORT_KNOBS_H

#include "report.h"

/*
 * Fills the table of what each knob saves and costs, next to what was published. Reads the table of
 * savings.
 */
SS_NONNULL() void ssreport_knobs_fill(struct ssreport_report *report);

#endif
