/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_FINDINGS_H
#define SSREPORT_FINDINGS_H

#include <stdarg.h>

#include "report.h"
#include "topic.h"

/* The table "findings", at the beginning of page and terminal. Other topics add rows to it. */
extern const struct ssreport_topic ssreport_findings_topic;

struct ssreport_finding {
    const char *sentence;
    bool is_general; /* about all runs of an environment; false: about one pair */
};

/*
 * Adds a row with a sentence about the whole report. Returns the table, so that the caller can set
 * more cells of this row.
 */
SS_FORMAT(3, 4)
struct table_sheet *ssreport_findings_add(
    struct ssreport_report *report, const char *kind, const char *format, ...);
SS_FORMAT(3, 0)
struct table_sheet *ssreport_findings_add_list(
    struct ssreport_report *report, const char *kind, const char *format, va_list arguments);

/*
 * Returns the first finding of this kind, about the whole report or about a pair; SSREPORT_NO_ROW
 * without one.
 */
size_t ssreport_findings_first(
    const struct ssreport_report *report, const char *kind, bool is_general);

/*
 * Returns the answer in the headline, from the headline itself or from a finding; NULL without
 * either.
 */
const char *ssreport_findings_answer(const struct ssreport_report *report);

struct ssreport_finding ssreport_finding_at(const struct ssreport_report *report, size_t row);

#endif
