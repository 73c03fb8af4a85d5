/* SPDX-License-Identifier: Apache-2.0 */
#include "shaded_tables.h"

#include <math.h>

struct row_key {
    const struct table_sheet *sheet;
    const char *const *columns;
    bool (*includes)(const struct table_sheet *sheet, size_t row);
};

static size_t row_of(const struct row_key *key, const struct table_cell *cells) {
    return (size_t)(cells - key->sheet->cells) / key->sheet->column_count;
}

static int compare_rows(const void *left, const void *right, void *context) {
    const struct row_key *key = context;
    size_t one = row_of(key, left), other = row_of(key, right);
    int order = 0;
    for (size_t i = 0; order == 0 && key->columns[i]; i++)
        order = table_compare(key->sheet, one, other, key->columns[i]);
    return order;
}

static bool includes_row(const void *cells, void *context) {
    const struct row_key *key = context;
    return !key->includes || key->includes(key->sheet, row_of(key, cells));
}

struct stats_groups ssreport_group_rows(const struct table_sheet *sheet, const char *const *columns,
    bool (*includes)(const struct table_sheet *sheet, size_t row)) {
    struct row_key rows = {sheet, columns, includes};
    const struct stats_key key = {.size = sheet->column_count * sizeof *sheet->cells,
        .compare = compare_rows,
        .includes = includes_row,
        .context = &rows};
    return stats_group_by(sheet->cells, table_rows(sheet), &key);
}

void ssreport_shaded_heading(FILE *stream, const char *scope, const char *text) {
    fprintf(stream, "<th scope=\"%s\">", scope);
    table_html_text(stream, text);
    fputs("</th>", stream);
}

void ssreport_shaded_style(FILE *stream, const int full[3], double part) {
    if (part == 0)
        return; /* the field keeps the page's background, which may be dark */
    fputs(" style=\"background:#", stream);
    for (int i = 0; i < 3; i++)
        fprintf(stream, "%02x", (unsigned)lround(255 + (full[i] - 255) * part));
    fputc('"', stream);
}
