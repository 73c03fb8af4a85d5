/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_POWER_SETTINGS_H
#define SSREPORT_POWER_SETTINGS_H

/* Power at one load with several settings: placements and numbers of busy CPUs. */

#include "page_parts.h"
#include "report.h"

/* Fills the table power-settings. Returns -1 if memory is exhausted. */
SS_MUST_USE SS_NONNULL() int ssreport_power_settings_fill(struct ssreport_report *report);

/* Draws a box for each setting, in a picture for each load. */
SS_NONNULL()
void ssreport_power_settings_print(
    struct ssreport_page *page, const struct ssreport_report *report);

/* Writes the script of the picture for the n-th load, from the table power-settings. */
SS_NONNULL()
void ssreport_power_settings_plot(FILE *script, const struct table_sheet *sheet, size_t picture);

#endif
