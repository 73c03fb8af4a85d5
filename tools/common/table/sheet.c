/* SPDX-License-Identifier: Apache-2.0 */
#include "sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "csv.h"
#include "letters.h"

static void add_cell(struct ssreport_sheet *sheet, struct ssreport_cell cell) {
    sheet->failed = sheet->failed || !ssreport_csv_make_room((void **)&sheet->cells, sheet->count,
                                         &sheet->capacity, sizeof cell);
    if (sheet->failed)
        free(cell.text);
    else
        sheet->cells[sheet->count++] = cell;
}

void ssreport_sheet_numbers(struct ssreport_sheet *sheet, const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        add_cell(sheet, (struct ssreport_cell){.number = numbers[i]});
}

void ssreport_sheet_texts(struct ssreport_sheet *sheet, const char *const *texts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct ssreport_cell cell = {.text = strdup(texts[i] ? texts[i] : ""), .number = NAN};
        sheet->failed |= !cell.text;
        add_cell(sheet, cell);
    }
}

const char *ssreport_sheet_shown(const struct ssreport_sheet *sheet, const char *text) {
    size_t length = sheet->prefix ? strlen(sheet->prefix) : 0;
    return length > 0 && strncmp(text, sheet->prefix, length) == 0 ? text + length : text;
}

size_t ssreport_sheet_rows(const struct ssreport_sheet *sheet) {
    return sheet->count / sheet->column_count;
}

const struct ssreport_cell *ssreport_sheet_cell(
    const struct ssreport_sheet *sheet, size_t row, const char *name) {
    size_t column = 0;
    while (strcmp(sheet->columns[column].name, name) != 0)
        column++;
    return &sheet->cells[row * sheet->column_count + column];
}

bool ssreport_sheet_is_same(
    const struct ssreport_sheet *sheet, size_t row, size_t other, const char *name) {
    const struct ssreport_cell *left = ssreport_sheet_cell(sheet, row, name);
    const struct ssreport_cell *right = ssreport_sheet_cell(sheet, other, name);
    if (left->text)
        return strcmp(left->text, right->text) == 0;
    return left->number == right->number || (isnan(left->number) && isnan(right->number));
}

void ssreport_sheet_free(struct ssreport_sheet *sheet) {
    for (size_t i = 0; i < sheet->count; i++)
        free(sheet->cells[i].text);
    free(sheet->cells);
    sheet->cells = NULL;
    sheet->count = sheet->capacity = 0;
}

/* ---- CSV ---- */

void ssreport_sheet_print_csv(FILE *stream, const struct ssreport_sheet *sheet) {
    for (size_t i = 0; i < sheet->column_count; i++)
        fprintf(stream, "%s%s", i > 0 ? "," : "", sheet->columns[i].name);
    fputc('\n', stream);
    for (size_t i = 0; i < sheet->count; i++) {
        const struct ssreport_cell *cell = &sheet->cells[i];
        size_t column = i % sheet->column_count;
        if (column > 0)
            fputc(',', stream);
        if (cell->text)
            ss_words_quote_csv(stream, cell->text);
        else if (isfinite(cell->number))
            fprintf(stream, "%.12g", cell->number);
        if (column + 1 == sheet->column_count)
            fputc('\n', stream);
    }
}

/* ---- HTML ---- */

void ssreport_html_part(FILE *stream, const char *text, size_t size) {
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

void ssreport_html_text(FILE *stream, const char *text) {
    ssreport_html_part(stream, text, strlen(text));
}

void ssreport_html_number(FILE *stream, double number, int decimals) {
    if (!isfinite(number)) {
        fputs("\u2013", stream);
        return;
    }
    char text[400];
    snprintf(text, sizeof text, "%.*f", decimals, number);
    /* Something small is not nothing; nor is there a negative nothing. */
    if (number != 0 && strtod(text, NULL) == 0 && fabs(number) < 1e-3)
        snprintf(text, sizeof text, "%.1e", number);
    else if (strtod(text, NULL) == 0)
        snprintf(text, sizeof text, "%.*f", decimals, 0.0);
    fprintf(stream, "%s%s", *text == '-' ? "\u2212" : "", text + (*text == '-'));
}

/* Whether it is shown at all. */
static bool has_column(const struct ssreport_sheet *sheet, size_t column) {
    if (!sheet->columns[column].heading)
        return false;
    for (size_t i = column; sheet->columns[column].if_known && i < sheet->count;
         i += sheet->column_count) {
        if (sheet->cells[i].text ? *sheet->cells[i].text != '\0' : isfinite(sheet->cells[i].number))
            return true;
    }
    return !sheet->columns[column].if_known;
}

static void print_row(FILE *stream, const struct ssreport_sheet *sheet, size_t row, size_t first) {
    fputs("<tr>", stream);
    for (size_t i = first; i < sheet->column_count; i++) {
        const struct ssreport_column *column = &sheet->columns[i];
        const struct ssreport_cell *cell = &sheet->cells[row * sheet->column_count + i];
        if (!has_column(sheet, i))
            continue;
        fputs(cell->text ? "<td class=\"text\">" : "<td>", stream);
        if (cell->text)
            ssreport_html_text(stream, ssreport_sheet_shown(sheet, cell->text));
        else
            ssreport_html_number(
                stream, column->percent ? 100 * cell->number : cell->number, column->decimals);
        fputs("</td>", stream);
    }
    fputs("</tr>\n", stream);
}

/* Rows of a sheet, from the first one to before the last. */
struct rows {
    size_t from, to;
};

/* From the first to the last row with this text as the first cell. */
static struct rows find_rows(const struct ssreport_sheet *sheet, const char *only) {
    size_t count = ssreport_sheet_rows(sheet);
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

static bool holds_text(const struct ssreport_sheet *sheet, struct rows rows, size_t column) {
    for (size_t row = rows.from; row < rows.to; row++) {
        if (sheet->cells[row * sheet->column_count + column].text)
            return true;
    }
    return false;
}

void ssreport_sheet_print_html(FILE *stream, const struct ssreport_sheet *sheet, const char *only) {
    size_t first = only ? 1 : 0;
    struct rows rows = find_rows(sheet, only);
    fputs("<div class=\"wide\"><table>\n<caption>", stream);
    ssreport_html_text(stream, sheet->title);
    fputs("</caption>\n<thead><tr>", stream);
    for (size_t i = first; i < sheet->column_count; i++) {
        if (!has_column(sheet, i))
            continue;
        fputs(
            holds_text(sheet, rows, i) ? "<th scope=\"col\" class=\"text\">" : "<th scope=\"col\">",
            stream);
        ssreport_html_text(stream, sheet->columns[i].heading);
        fputs("</th>", stream);
    }
    fputs("</tr></thead>\n<tbody>\n", stream);
    for (size_t row = rows.from; row < rows.to; row++) {
        const char *text = sheet->cells[row * sheet->column_count].text;
        if (!only || (text && strcmp(text, only) == 0))
            print_row(stream, sheet, row, first);
    }
    fputs("</tbody></table></div>\n", stream);
}
