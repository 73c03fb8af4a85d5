/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_SHADED_TABLES_H
#define SSREPORT_SHADED_TABLES_H

/* Parts of tables on the page with a foreground by row, a background by column, and shades. */

#include "group_by.h"
#include "sheet.h"

/* Groups rows that have the same in these columns; the last name is NULL. `includes` may be NULL.
 */
SS_NONNULL(1, 2)
struct stats_groups ssreport_group_rows(const struct table_sheet *sheet, const char *const *columns,
    bool (*includes)(const struct table_sheet *sheet, size_t row));

/* A heading cell; `scope` is "row" or "col". */
SS_NONNULL(1, 2, 3)
void ssreport_shaded_heading(FILE *stream, const char *scope, const char *text);

/* " style=...": nothing for a part of 0, for 1 the color `full`: red, green and blue, up to 255. */
SS_NONNULL(1, 2) void ssreport_shaded_style(FILE *stream, const int full[3], double part);

#endif
