/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RULES_H
#define SSREPORT_RULES_H

#include "report.h"

/*
 * Fills the table of published statements about knobs, each tested on the runs of the report:
 * supported, contradicted, undecided, or not tested. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL() int ssreport_rules_fill(struct ssreport_report *report);

#endif
