/* SPDX-License-Identifier: Apache-2.0 */
#include "sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const char *ssreport_sheet_shown(const struct ssreport_sheet *sheet, const char *text) {
    size_t length = sheet->prefix ? strlen(sheet->prefix) : 0;
    return length > 0 && strncmp(text, sheet->prefix, length) == 0 ? text + length : text;
}

size_t ssreport_sheet_rows(const struct ssreport_sheet *sheet) {
    return sheet->count / sheet->column_count;
}

/* Looks from the column `from` on, and then at those before it. */
static size_t find_column(const struct ssreport_sheet *sheet, const char *name, size_t from) {
    for (size_t i = 0; i < sheet->column_count; i++) {
        size_t column = (from + i) % sheet->column_count;
        if (strcmp(sheet->columns[column].name, name) == 0)
            return column;
    }
    fprintf(stderr, "the table %s has no column %s\n", sheet->name, name);
    abort();
}

void ssreport_sheet_row(struct ssreport_sheet *sheet) {
    size_t end = sheet->count + sheet->column_count;
    if (sheet->failed || !SS_GROW(sheet->cells, end, sheet->capacity)) {
        sheet->failed = true;
        return;
    }
    while (sheet->count < end)
        sheet->cells[sheet->count++] = (struct ssreport_cell){.number = NAN};
}

void ssreport_sheet_set(
    struct ssreport_sheet *sheet, const struct ssreport_value *values, size_t count) {
    size_t column = 0, row = ssreport_sheet_rows(sheet) - 1;
    for (size_t i = 0; i < count; i++, column++) {
        column = find_column(sheet, values[i].column, column);
        if (sheet->failed)
            return;
        struct ssreport_cell *cell = &sheet->cells[row * sheet->column_count + column];
        const char *text = values[i].text ? values[i].text : "";
        free(cell->text);
        *cell = (struct ssreport_cell){.text = values[i].is_text ? strdup(text) : NULL,
            .number = values[i].is_text ? NAN : values[i].number};
        sheet->failed = values[i].is_text && !cell->text;
    }
}

const struct ssreport_cell *ssreport_sheet_cell(
    const struct ssreport_sheet *sheet, size_t row, const char *name) {
    return &sheet->cells[row * sheet->column_count + find_column(sheet, name, 0)];
}

bool ssreport_sheet_shows(const struct ssreport_sheet *sheet, size_t column) {
    if (!sheet->columns[column].heading)
        return false;
    for (size_t i = column; sheet->columns[column].if_known && i < sheet->count;
         i += sheet->column_count) {
        if (sheet->cells[i].text ? *sheet->cells[i].text != '\0' : isfinite(sheet->cells[i].number))
            return true;
    }
    return !sheet->columns[column].if_known;
}

int ssreport_sheet_compare(
    const struct ssreport_sheet *sheet, size_t row, size_t other, const char *name) {
    const struct ssreport_cell *left = ssreport_sheet_cell(sheet, row, name);
    const struct ssreport_cell *right = ssreport_sheet_cell(sheet, other, name);
    if (left->text && right->text)
        return strcmp(left->text, right->text);
    if (isnan(left->number) || isnan(right->number))
        return !isnan(left->number) - !isnan(right->number);
    return (left->number > right->number) - (left->number < right->number);
}

void ssreport_sheet_free(struct ssreport_sheet *sheet) {
    for (size_t i = 0; i < sheet->count; i++)
        free(sheet->cells[i].text);
    free(sheet->cells);
    sheet->cells = NULL;
    sheet->count = sheet->capacity = 0;
}
