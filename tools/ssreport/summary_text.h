/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_SUMMARY_TEXT_H
#define SSREPORT_SUMMARY_TEXT_H

#include "report.h"

/* The report in 80 columns. */
void ssreport_summary_print(FILE *stream, const struct ssreport_report *report);

#endif
