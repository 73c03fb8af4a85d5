/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_SHADED_TABLES_H
#define SSREPORT_SHADED_TABLES_H

/*
 * Parts of shaded tables on the page, which have a foreground per row and a background per column.
 */

#include "group_by.h"
#include "sheet.h"

/* Groups rows that agree in these columns, whose names end with NULL. `includes` may be NULL. */
SS_NONNULL(1, 2)
struct stats_groups ssreport_group_rows(const struct table_sheet *sheet, const char *const *columns,
    bool (*includes)(const struct table_sheet *sheet, size_t row));

/* Prints a heading cell; `scope` is "row" or "col". */
SS_NONNULL(1, 2, 3)
void ssreport_shaded_heading(FILE *stream, const char *scope, const char *text);

/*
 * Prints " style=..." with a background between white (`part` is 0) and `full` (`part` is 1), which
 * has red, green and blue from 0 to 255. Prints nothing if `part` is 0.
 */
SS_NONNULL(1, 2) void ssreport_shaded_style(FILE *stream, const int full[3], double part);

#endif
