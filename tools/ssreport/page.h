/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PAGE_H
#define SSREPORT_PAGE_H

#include "report.h"

/*
 * The report as one HTML page that needs nothing else. Without gnuplot it has no pictures, and the
 * first reason why is in `without`; nothing else is wrong with it then.
 */
void ssreport_page_print(
    FILE *page, const struct ssreport_report *report, struct ss_error *without);

#endif
