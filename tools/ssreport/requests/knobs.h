/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_KNOBS_H
#define SSREPORT_KNOBS_H

#include "report.h"

/*
 * Fills the table of savings and costs of each knob, with the published ones. Reads the table of
 * savings.
 */
SS_NONNULL() void ssreport_knobs_fill(struct ssreport_report *report);

#endif
