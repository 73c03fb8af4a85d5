/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RESIDENCY_H
#define SSREPORT_RESIDENCY_H

#include "report.h"

/*
 * Fills the table of idle states by rate, from idle.csv next to the requests. Returns -1 if memory
 * is exhausted.
 */
SS_MUST_USE SS_NONNULL() int ssreport_residency_fill(struct ssreport_report *report);

#endif
