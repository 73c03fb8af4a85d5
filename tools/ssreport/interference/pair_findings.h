/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAIR_FINDINGS_H
#define SSREPORT_PAIR_FINDINGS_H

#include "report.h"

/*
 * Adds findings about pairs: the best placements, the costs of environments, and omitted
 * comparisons. Fills the table of changes. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1) int ssreport_pair_findings(struct ssreport_report *report);

#endif
