/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RESPONSES_FINDINGS_H
#define SSREPORT_RESPONSES_FINDINGS_H

#include "report.h"

/* Adds what the points say, in sentences, to the sheet of findings. */
void ssreport_responses_findings(struct ssreport_report *report);

#endif
