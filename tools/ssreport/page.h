/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAGE_H
#define SSREPORT_PAGE_H

#include "report.h"

/*
 * Prints the report as one self-contained HTML page. Without gnuplot the page has no pictures, and
 * `without` says why.
 */
SS_NONNULL(1, 2, 3)
void ssreport_page_print(
    FILE *stream, const struct ssreport_report *report, struct ss_error *without);

/* Prints the summary as text of 80 columns. */
SS_NONNULL(1, 2) void ssreport_text_print(FILE *stream, const struct ssreport_report *report);

#endif
