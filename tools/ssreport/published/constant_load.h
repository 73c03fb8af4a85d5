/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_CONSTANT_LOAD_H
#define SSREPORT_CONSTANT_LOAD_H

#include "report.h"

/*
 * Fills the tables constant-load, with the errors by workload, method and target, and
 * constant-load-runs. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1) int ssreport_constant_load_fill(struct ssreport_report *report);

#endif
