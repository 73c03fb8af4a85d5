/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_SHEET_H
#define SSREPORT_SHEET_H

/*
 * A table in memory, and its forms: CSV and JSON in full precision for programs; HTML, Markdown and
 * text for readers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <showstopper/contract.h>

struct ssreport_column {
    const char *name;    /* in CSV and JSON, and in the program */
    const char *heading; /* for readers; NULL: the column is for programs only */
    int decimals;        /* for readers */
    bool percent;        /* for readers, of a part of 1 */
    bool if_known;       /* readers see it only if any row has a value */
    struct {
        const char *heading; /* NULL: not in text */
        int width;
    } text;
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

/* A member of a static array of empty tables. */
#define SSREPORT_TABLE(name_, title_, columns_)                                                    \
    {                                                                                              \
        .name = (name_), .title = (title_), .columns = (columns_),                                 \
        .column_count = sizeof(columns_) / sizeof *(columns_)                                      \
    }

/* A value for the column of this name. NaN and NULL: unknown. */
struct ssreport_value {
    const char *column, *text;
    double number;
    bool is_text;
};

/* From a text, any number, or a bool, which becomes "yes" or "no". */
#define CELL(column, value)                                                                        \
    _Generic((value),                                                                              \
        char *: ssreport_value_of_text,                                                            \
        const char *: ssreport_value_of_text,                                                      \
        bool: ssreport_value_of_answer,                                                            \
        size_t: ssreport_value_of_count,                                                           \
        default: ssreport_value_of_number)((column), (value))

static inline struct ssreport_value ssreport_value_of_text(const char *column, const char *text) {
    return (struct ssreport_value){.column = column, .text = text, .is_text = true};
}

static inline struct ssreport_value ssreport_value_of_answer(const char *column, bool answer) {
    return ssreport_value_of_text(column, answer ? "yes" : "no");
}

static inline struct ssreport_value ssreport_value_of_number(const char *column, double number) {
    return (struct ssreport_value){.column = column, .number = number};
}

static inline struct ssreport_value ssreport_value_of_count(const char *column, size_t count) {
    return ssreport_value_of_number(column, (double)count);
}

/*
 * SSREPORT_ROW(sheet, CELL("step", i + 1), CELL("load", load)) adds a row; columns that are not
 * named are empty. SSREPORT_CELLS() sets more cells of the last row. A column that the sheet does
 * not have is an error of the program, which aborts.
 */
#define SSREPORT_ROW(sheet, ...) (ssreport_sheet_row(sheet), SSREPORT_CELLS(sheet, __VA_ARGS__))
#define SSREPORT_CELLS(sheet, ...)                                                                 \
    ssreport_sheet_set(sheet, (const struct ssreport_value[]){__VA_ARGS__},                        \
        sizeof((const struct ssreport_value[]){__VA_ARGS__}) / sizeof(struct ssreport_value))

SS_NONNULL(1) void ssreport_sheet_row(struct ssreport_sheet *sheet);
SS_NONNULL(1, 2)
void ssreport_sheet_set(
    struct ssreport_sheet *sheet, const struct ssreport_value *values, size_t count);

/* A text as it is shown. */
const char *ssreport_sheet_shown(const struct ssreport_sheet *sheet, const char *text);

size_t ssreport_sheet_rows(const struct ssreport_sheet *sheet);

/* The cell of a row in the column of this name, which the sheet must have or the program aborts. */
const struct ssreport_cell *ssreport_sheet_cell(
    const struct ssreport_sheet *sheet, size_t row, const char *name);

/* Whether readers see a column at all. */
bool ssreport_sheet_shows(const struct ssreport_sheet *sheet, size_t column);

/* Orders two rows by the column of this name: by strcmp(), or numbers, unknown ones first. */
int ssreport_sheet_compare(
    const struct ssreport_sheet *sheet, size_t row, size_t other, const char *name);

/* ---- for programs ---- */

void ssreport_sheet_print_csv(FILE *stream, const struct ssreport_sheet *sheet);

/* A list of objects, whose members have the names of columns; what is unknown is null. */
void ssreport_sheet_print_json(FILE *stream, const struct ssreport_sheet *sheet);

/* ---- for readers ---- */

/* The columns with a heading or, if there are none, all by their names. */
void ssreport_sheet_print_markdown(FILE *stream, const struct ssreport_sheet *sheet);

/* The columns with a heading in text, under the title; nothing without rows. */
void ssreport_sheet_print_text(FILE *stream, const struct ssreport_sheet *sheet, const char *title);

/* As text: a long name without its beginning, which says less of a path than its end. */
void ssreport_text_name(FILE *stream, const char *name, int width);

/* As text: a blank and a number, or a dash if it is unknown. */
void ssreport_text_number(FILE *stream, int width, int decimals, double number);

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
