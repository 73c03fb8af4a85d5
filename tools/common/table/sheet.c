/* SPDX-License-Identifier: Apache-2.0 */
#include "sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const char *table_shown(const struct table_sheet *sheet, const char *text) {
    size_t length = sheet->prefix ? strlen(sheet->prefix) : 0;
    return length > 0 && strncmp(text, sheet->prefix, length) == 0 ? text + length : text;
}

size_t table_rows(const struct table_sheet *sheet) {
    return sheet->count / sheet->column_count;
}

/*
 * Aborts if the column does not exist. Starts at `from`, because callers usually set columns in
 * order.
 */
static size_t find_column(const struct table_sheet *sheet, const char *name, size_t from) {
    for (size_t i = 0; i < sheet->column_count; i++) {
        size_t column = (from + i) % sheet->column_count;
        if (strcmp(sheet->columns[column].name, name) == 0)
            return column;
    }
    fprintf(stderr, "BUG: the table '%s' has no column '%s'\n", sheet->name, name);
    abort();
}

void table_add_row(struct table_sheet *sheet) {
    size_t end = sheet->count + sheet->column_count;
    if (sheet->failed || !SS_GROW(sheet->cells, end, sheet->capacity)) {
        sheet->failed = true;
        return;
    }
    while (sheet->count < end)
        sheet->cells[sheet->count++] = (struct table_cell){.number = NAN};
}

void table_set_cells(struct table_sheet *sheet, const struct table_value *values, size_t count) {
    size_t column = 0, row = table_rows(sheet) - 1;
    for (size_t i = 0; i < count; i++, column++) {
        column = find_column(sheet, values[i].column, column);
        if (sheet->failed)
            return;
        struct table_cell *cell = &sheet->cells[row * sheet->column_count + column];
        const char *text = values[i].text ? values[i].text : "";
        free(cell->text);
        *cell = (struct table_cell){.text = values[i].is_text ? strdup(text) : NULL,
            .number = values[i].is_text ? NAN : values[i].number};
        sheet->failed = values[i].is_text && !cell->text;
    }
}

const struct table_cell *table_cell_at(
    const struct table_sheet *sheet, size_t row, const char *name) {
    return &sheet->cells[row * sheet->column_count + find_column(sheet, name, 0)];
}

/* Returns whether readers see a column. Takes time in proportion to the rows. */
static bool shows_column(const struct table_sheet *sheet, size_t column) {
    if (!sheet->columns[column].heading)
        return false;
    for (size_t i = column; sheet->columns[column].if_known && i < sheet->count;
         i += sheet->column_count) {
        if (sheet->cells[i].text ? *sheet->cells[i].text != '\0' : isfinite(sheet->cells[i].number))
            return true;
    }
    return !sheet->columns[column].if_known;
}

bool *table_find_shown(const struct table_sheet *sheet) {
    bool *shows = calloc(sheet->column_count + 1, sizeof *shows);
    for (size_t i = 0; shows && i < sheet->column_count; i++)
        shows[i] = shows_column(sheet, i);
    return shows;
}

int table_compare(const struct table_sheet *sheet, size_t row, size_t other, const char *name) {
    const struct table_cell *left = table_cell_at(sheet, row, name);
    const struct table_cell *right = table_cell_at(sheet, other, name);
    if (left->text && right->text)
        return strcmp(left->text, right->text);
    if (isnan(left->number) || isnan(right->number))
        return !isnan(left->number) - !isnan(right->number);
    return (left->number > right->number) - (left->number < right->number);
}

void table_free(struct table_sheet *sheet) {
    for (size_t i = 0; i < sheet->count; i++)
        free(sheet->cells[i].text);
    free(sheet->cells);
    sheet->cells = NULL;
    sheet->count = sheet->capacity = 0;
}
