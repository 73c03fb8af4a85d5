/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_HEAT_H
#define SSREPORT_HEAT_H

#include "report.h"

/*
 * The median ratio of each pair, a table for each placement and pair of environments, in one range
 * of colors; nothing where no pairs were compared.
 */
void ssreport_heat_print(FILE *page, const struct ssreport_report *report);

#endif
