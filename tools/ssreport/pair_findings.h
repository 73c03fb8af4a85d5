/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_FINDINGS_H
#define SSREPORT_FINDINGS_H

#include "report.h"

/* A sentence of the report, from the sheet of findings. */
struct ssreport_finding {
    const char *sentence;
    bool is_general; /* said of all pairs, not of one */
};

/* A sentence of the whole report. */
void ssreport_findings_add(struct ssreport_report *report, const char *kind, const char *sentence);

struct ssreport_finding ssreport_finding_at(const struct ssreport_report *report, size_t row);

#endif
