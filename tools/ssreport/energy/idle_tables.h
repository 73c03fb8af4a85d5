/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_IDLE_TABLES_H
#define SSREPORT_IDLE_TABLES_H

#include "report.h"

/*
 * Fills the table of idle states of runs and steps, and adds a finding on how their residency and
 * the power change with the load. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1) int ssreport_idle_fill(struct ssreport_report *report);

#endif
