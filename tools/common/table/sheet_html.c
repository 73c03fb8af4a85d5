/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "letters.h"
#include "sheet.h"

void table_html_part(FILE *stream, const char *text, size_t size) {
    const char *end = text + size;
    while (text < end && *text) {
        size_t length = text_letter_length(text);
        if (length == 0)
            fputc(*text == '\n' || *text == '\t' ? ' ' : '?', stream);
        else if (*text == '<')
            fputs("&lt;", stream);
        else if (*text == '>')
            fputs("&gt;", stream);
        else if (*text == '&')
            fputs("&amp;", stream);
        else if (*text == '"')
            fputs("&quot;", stream);
        else
            fwrite(text, 1, length, stream);
        text += length > 0 ? length : 1;
    }
}

void table_html_text(FILE *stream, const char *text) {
    table_html_part(stream, text, strlen(text));
}

void table_html_sentence(FILE *stream, const char *text) {
    const char *percent;
    for (; (percent = strstr(text, " %")) != NULL; text = percent + 2) {
        table_html_part(stream, text, (size_t)(percent - text));
        fputs("\u00a0%", stream);
    }
    table_html_text(stream, text);
}

void table_html_number(FILE *stream, double number, int decimals) {
    if (!isfinite(number)) {
        fputs("\u2013", stream);
        return;
    }
    char text[400];
    snprintf(text, sizeof text, "%.*f", decimals, number);
    /* Show a small number as 1.2e-09 instead of 0, and never show -0. */
    if (number != 0 && strtod(text, NULL) == 0 && fabs(number) < 1e-3)
        snprintf(text, sizeof text, "%.1e", number);
    else if (strtod(text, NULL) == 0)
        snprintf(text, sizeof text, "%.*f", decimals, 0.0);
    fprintf(stream, "%s%s", *text == '-' ? "\u2212" : "", text + (*text == '-'));
}

/* Prints a row. `shows` says which columns are shown. */
static void print_row(
    FILE *stream, const struct table_sheet *sheet, size_t row, size_t first, const bool *shows) {
    const char *shade = sheet->shade ? table_cell_at(sheet, row, sheet->shade)->text : NULL;
    if (shade)
        fprintf(stream, "<tr class=\"%s\">", shade);
    else
        fputs("<tr>", stream);
    for (size_t i = first; i < sheet->column_count; i++) {
        const struct table_column *column = &sheet->columns[i];
        const struct table_cell *cell = &sheet->cells[row * sheet->column_count + i];
        if (!shows[i])
            continue;
        fputs(cell->text ? "<td class=\"text\">" : "<td>", stream);
        if (cell->text)
            table_html_text(stream, table_shown(sheet, cell->text));
        else
            table_html_number(
                stream, column->percent ? 100 * cell->number : cell->number, column->decimals);
        fputs("</td>", stream);
    }
    fputs("</tr>\n", stream);
}

/* Rows from `from` to `to` - 1. */
struct rows {
    size_t from, to;
};

/*
 * Returns the range from the first to the last row whose first cell has this text; all rows if
 * `only` is NULL.
 */
static struct rows find_rows(const struct table_sheet *sheet, const char *only) {
    size_t count = table_rows(sheet);
    struct rows rows = {only ? count : 0, only ? 0 : count};
    for (size_t row = 0; only && row < count; row++) {
        const char *text = sheet->cells[row * sheet->column_count].text;
        if (!text || strcmp(text, only) != 0)
            continue;
        rows.from = row < rows.from ? row : rows.from;
        rows.to = row + 1;
    }
    return rows;
}

static bool holds_text(const struct table_sheet *sheet, struct rows rows, size_t column) {
    for (size_t row = rows.from; row < rows.to; row++) {
        if (sheet->cells[row * sheet->column_count + column].text)
            return true;
    }
    return false;
}

void table_print_html(FILE *stream, const struct table_sheet *sheet, const char *only) {
    size_t first = only ? 1 : 0;
    struct rows rows = find_rows(sheet, only);
    SS_OWNED(free) bool *shows = table_find_shown(sheet);
    if (!shows) {
        fputs("<p>Out of memory: a table is missing here.</p>\n", stream);
        return;
    }
    fputs("<div class=\"wide\"><table>\n<caption>", stream);
    table_html_text(stream, sheet->title);
    fputs("</caption>\n<thead><tr>", stream);
    for (size_t i = first; i < sheet->column_count; i++) {
        if (!shows[i])
            continue;
        fputs(
            holds_text(sheet, rows, i) ? "<th scope=\"col\" class=\"text\">" : "<th scope=\"col\">",
            stream);
        table_html_sentence(stream, sheet->columns[i].heading);
        fputs("</th>", stream);
    }
    fputs("</tr></thead>\n<tbody>\n", stream);
    for (size_t row = rows.from; row < rows.to; row++) {
        const char *text = sheet->cells[row * sheet->column_count].text;
        if (!only || (text && strcmp(text, only) == 0))
            print_row(stream, sheet, row, first, shows);
    }
    fputs("</tbody></table></div>\n", stream);
}
