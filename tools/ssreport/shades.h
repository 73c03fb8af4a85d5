/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_SHADES_H
#define SSREPORT_SHADES_H

#include "sheet.h"

/* From the sheet of interference a table for each placement: the darker the more of it. */
void ssreport_shades_print(FILE *page, const struct ssreport_sheet *sheet);

#endif
