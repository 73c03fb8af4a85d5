/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAIR_FINDINGS_H
#define SSREPORT_PAIR_FINDINGS_H

#include "report.h"

/*
 * Adds findings on the pairs: the best placements, the costs of environments, and the comparisons
 * that are not made. Fills the table of changes. Returns -1 if out of memory.
 */
SS_MUST_USE SS_NONNULL(1) int ssreport_pair_findings(struct ssreport_report *report);

#endif
