/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TABLE_SHEET_H
#define TABLE_SHEET_H

/*
 * A table in memory. Programs get it as CSV or JSON in full precision; readers get it as HTML,
 * Markdown or text.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <showstopper/contract.h>

struct table_column {
    const char *name;    /* name in CSV and JSON, and in CELL() */
    const char *heading; /* heading for readers; NULL if the column is for programs only */
    int decimals;        /* number of decimals for readers */
    bool percent;        /* readers see 100 times the value */
    bool if_known;       /* shown to readers only if a row has a value */
    struct {
        const char *heading; /* NULL if not shown in text */
        int width;
    } text;
    bool small; /* readers see a value that would round to 0 as 1.2e-09 */
};

#define TABLE_DIGITS 12

struct table_cell {
    char *text; /* owned; NULL: the cell is a number */
    double number;
};

struct table_sheet {
    const char *name; /* name of the file, without ".csv" */
    const char *title;
    const struct table_column *columns;
    size_t column_count;
    struct table_cell *cells; /* row by row */
    size_t count, capacity;
    bool failed; /* memory was exhausted, so a cell is missing */
    /* prefix of texts, printed in CSV but hidden from readers; NULL if absent */
    const char *prefix;
    const char *shade; /* name of a column of verdicts, by which a page shades rows; may be NULL */
};

#define TABLE_SHEET(name_, title_, columns_)                                                       \
    ((struct table_sheet){.name = (name_),                                                         \
        .title = (title_),                                                                         \
        .columns = (columns_),                                                                     \
        .column_count = sizeof(columns_) / sizeof *(columns_)})

/* Initializes a member of a static array of empty tables. */
#define TABLE_INIT(name_, title_, columns_)                                                        \
    {                                                                                              \
        .name = (name_), .title = (title_), .columns = (columns_),                                 \
        .column_count = sizeof(columns_) / sizeof *(columns_)                                      \
    }

/* Like TABLE_INIT(), with rows shaded by the verdicts in a column. */
#define TABLE_SHADED(name_, title_, columns_, shade_)                                              \
    {                                                                                              \
        .name = (name_), .title = (title_), .columns = (columns_),                                 \
        .column_count = sizeof(columns_) / sizeof *(columns_), .shade = (shade_)                   \
    }

/* A value for the column with this name; unknown values are NaN and NULL. */
struct table_value {
    const char *column, *text;
    double number;
    bool is_text;
};

/* Makes a value from a text, any number, or a bool, which becomes "yes" or "no". */
#define CELL(column, value)                                                                        \
    _Generic((value),                                                                              \
        char *: table_value_of_text,                                                               \
        const char *: table_value_of_text,                                                         \
        bool: table_value_of_answer,                                                               \
        size_t: table_value_of_count,                                                              \
        default: table_value_of_number)((column), (value))

static inline struct table_value table_value_of_text(const char *column, const char *text) {
    return (struct table_value){.column = column, .text = text, .is_text = true};
}

static inline struct table_value table_value_of_answer(const char *column, bool answer) {
    return table_value_of_text(column, answer ? "yes" : "no");
}

static inline struct table_value table_value_of_number(const char *column, double number) {
    return (struct table_value){.column = column, .number = number};
}

static inline struct table_value table_value_of_count(const char *column, size_t count) {
    return table_value_of_number(column, (double)count);
}

/*
 * TABLE_ROW(sheet, CELL("step", i + 1), CELL("load", load)) adds a row; columns that are not named
 * stay empty. TABLE_CELLS() sets more cells of the last row. Naming a column that the sheet lacks
 * is a bug and aborts the program.
 */
#define TABLE_ROW(sheet, ...) (table_add_row(sheet), TABLE_CELLS(sheet, __VA_ARGS__))
#define TABLE_CELLS(sheet, ...)                                                                    \
    table_set_cells(sheet, (const struct table_value[]){__VA_ARGS__},                              \
        sizeof((const struct table_value[]){__VA_ARGS__}) / sizeof(struct table_value))

SS_NONNULL(1) void table_add_row(struct table_sheet *sheet);
SS_NONNULL(1, 2)
void table_set_cells(struct table_sheet *sheet, const struct table_value *values, size_t count);

/* Returns the part of a text after the sheet's prefix. */
const char *table_shown(const struct table_sheet *sheet, const char *text);

size_t table_rows(const struct table_sheet *sheet);

/* Aborts if the sheet lacks the column. */
const struct table_cell *table_cell_at(
    const struct table_sheet *sheet, size_t row, const char *name);

/*
 * Returns for each column whether readers see it; NULL if memory is exhausted. The caller frees the
 * list.
 */
bool *table_find_shown(const struct table_sheet *sheet);

/* Orders two rows by a column: texts by strcmp(), numbers by value, unknown numbers first. */
int table_compare(const struct table_sheet *sheet, size_t row, size_t other, const char *name);

void table_print_csv(FILE *stream, const struct table_sheet *sheet);

/*
 * Prints a list of objects, whose members have the names of the columns; unknown values are null.
 */
void table_print_json(FILE *stream, const struct table_sheet *sheet);

/* The same as a member of a document; without a name if it is NULL. */
struct ss_json;
SS_NONNULL(1, 3)
void table_print_json_rows(struct ss_json *json, const char *name, const struct table_sheet *sheet);

/* Prints the columns for readers or, if all columns are for programs, all of them by name. */
void table_print_markdown(FILE *stream, const struct table_sheet *sheet);

/* Prints the columns that have a heading for text. Prints nothing without rows. */
void table_print_text(FILE *stream, const struct table_sheet *sheet, const char *title);

/* Prints a name, cut on the left if it is too long: the end of a path says more. */
void table_text_name(FILE *stream, const char *name, int width);

/* Prints a space and a number, or a dash if it is unknown. */
void table_text_number(FILE *stream, int width, int decimals, double number);

/*
 * Prints all rows or, if `only` is not NULL, those whose first cell is `only`, without their first
 * column.
 */
void table_print_html(FILE *stream, const struct table_sheet *sheet, const char *only);

void table_free(struct table_sheet *sheet);

/* Prints an escaped text. Replaces characters that HTML forbids. */
void table_html_text(FILE *stream, const char *text);

/* Like table_html_text(); a percent sign stays on the line of its number or name. */
void table_html_sentence(FILE *stream, const char *text);

/* Prints at most `size` bytes of a text, without cutting a letter. */
void table_html_part(FILE *stream, const char *text, size_t size);

/* Prints a number, or a dash for NaN. */
void table_html_number(FILE *stream, double number, int decimals);

#endif
