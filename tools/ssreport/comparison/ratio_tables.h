/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RATIO_TABLES_H
#define SSREPORT_RATIO_TABLES_H

#include "report.h"

/*
 * Prints the median ratio of each pair, in a table for each placement and pair of environments. All
 * tables share one range of colors. Prints nothing if no pairs were compared.
 */
void ssreport_ratio_tables_print(FILE *page, const struct ssreport_report *report);

#endif
