/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RESPONSES_FINDINGS_H
#define SSREPORT_RESPONSES_FINDINGS_H

#include "report.h"

/* Adds sentences about points and records to the findings. Returns -1 if memory is exhausted. */
SS_MUST_USE SS_NONNULL(1) int ssreport_responses_findings(struct ssreport_report *report);

#endif
