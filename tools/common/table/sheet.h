/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_SHEET_H
#define SSREPORT_SHEET_H

/* A table of the report, in memory, and its forms: CSV in full precision, HTML to be read. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ssreport_column {
    const char *name;    /* in CSV */
    const char *heading; /* in HTML; NULL: the column is not there */
    int decimals;        /* in HTML */
    bool percent;        /* in HTML, of a part of 1 */
    bool if_known;       /* in HTML the column is there only if it holds anything */
};

struct ssreport_cell {
    char *text; /* NULL: the number; owned */
    double number;
};

struct ssreport_sheet {
    const char *name; /* of the file, without ".csv" */
    const char *title;
    const struct ssreport_column *columns;
    size_t column_count;
    struct ssreport_cell *cells; /* row by row */
    size_t count, capacity;
    bool failed;        /* there was no memory for a cell */
    const char *prefix; /* left out where a text is shown, not in CSV; NULL: none */
};

#define SSREPORT_SHEET(name_, title_, columns_)                                                    \
    ((struct ssreport_sheet){.name = (name_),                                                      \
        .title = (title_),                                                                         \
        .columns = (columns_),                                                                     \
        .column_count = sizeof(columns_) / sizeof *(columns_)})

/* The next cells, from left to right; a row ends by itself. NaN and NULL: nothing is known. */
#define SSREPORT_NUMBERS(sheet, ...)                                                               \
    ssreport_sheet_numbers(sheet, (const double[]){__VA_ARGS__},                                   \
        sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
#define SSREPORT_TEXTS(sheet, ...)                                                                 \
    ssreport_sheet_texts(sheet, (const char *const[]){__VA_ARGS__},                                \
        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

void ssreport_sheet_numbers(struct ssreport_sheet *sheet, const double *numbers, size_t count);
void ssreport_sheet_texts(struct ssreport_sheet *sheet, const char *const *texts, size_t count);

/* A text as it is shown. */
const char *ssreport_sheet_shown(const struct ssreport_sheet *sheet, const char *text);

size_t ssreport_sheet_rows(const struct ssreport_sheet *sheet);

/* The cell of a row in the column of this name, which the sheet must have. */
const struct ssreport_cell *ssreport_sheet_cell(
    const struct ssreport_sheet *sheet, size_t row, const char *name);

/* Whether two rows have the same in the column of this name; unknown numbers are the same. */
bool ssreport_sheet_is_same(
    const struct ssreport_sheet *sheet, size_t row, size_t other, const char *name);

void ssreport_sheet_print_csv(FILE *stream, const struct ssreport_sheet *sheet);

/* The rows whose first cell is this text; NULL: all. The first column is then left out. */
void ssreport_sheet_print_html(FILE *stream, const struct ssreport_sheet *sheet, const char *only);

void ssreport_sheet_free(struct ssreport_sheet *sheet);

/* ---- texts in HTML ---- */

/* Escaped; what no document may hold becomes a mark. */
void ssreport_html_text(FILE *stream, const char *text);

/* Its first bytes, up to the end of a letter. */
void ssreport_html_part(FILE *stream, const char *text, size_t size);

/* A number, or a dash where it is NaN. */
void ssreport_html_number(FILE *stream, double number, int decimals);

#endif
