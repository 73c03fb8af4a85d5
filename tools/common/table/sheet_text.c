/* SPDX-License-Identifier: Apache-2.0 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/owned.h"
#include "base/words.h"
#include "letters.h"
#include "sheet.h"

void table_print_csv(FILE *stream, const struct table_sheet *sheet) {
    for (size_t i = 0; i < sheet->column_count; i++)
        fprintf(stream, "%s%s", i > 0 ? "," : "", sheet->columns[i].name);
    fputc('\n', stream);
    for (size_t i = 0; i < sheet->count; i++) {
        const struct table_cell *cell = &sheet->cells[i];
        size_t column = i % sheet->column_count;
        if (column > 0)
            fputc(',', stream);
        if (cell->text)
            ss_words_quote_csv(stream, cell->text);
        else if (isfinite(cell->number))
            fprintf(stream, "%.*g", TABLE_DIGITS, cell->number);
        if (column + 1 == sheet->column_count)
            fputc('\n', stream);
    }
}

void table_print_json_rows(
    struct ss_json *json, const char *name, const struct table_sheet *sheet) {
    ss_json_open(json, name, '[');
    for (size_t i = 0; i < sheet->count; i++) {
        const struct table_cell *cell = &sheet->cells[i];
        const struct table_column *column = &sheet->columns[i % sheet->column_count];
        char digits[32];
        if (i % sheet->column_count == 0)
            ss_json_open(json, NULL, '{');
        snprintf(digits, sizeof digits, "%.*g", TABLE_DIGITS, cell->number);
        if (cell->text)
            ss_json_text(json, column->name, *cell->text ? cell->text : NULL);
        else
            ss_json_digits(json, column->name, digits);
        if ((i + 1) % sheet->column_count == 0)
            ss_json_close(json, '}');
    }
    ss_json_close(json, ']');
}

void table_print_json(FILE *stream, const struct table_sheet *sheet) {
    struct ss_json json = {.stream = stream};
    table_print_json_rows(&json, NULL, sheet);
}

/* Returns whether readers see a number as 1.2e-09, because it would round to 0. */
static bool is_small(const struct table_column *column, double number) {
    return column->small && number != 0 && fabs(number) < 0.5 * pow(10, -column->decimals);
}

static void print_markdown_text(FILE *stream, const char *text) {
    for (; *text; text++) {
        if (strchr("|\\`*_<>&[]", *text))
            fputc('\\', stream);
        fputc(*text == '\n' || *text == '\r' || *text == '\t' ? ' ' : *text, stream);
    }
}

/* Returns which columns are printed: those for readers or, without any, all. */
static bool *find_in_markdown(const struct table_sheet *sheet) {
    bool any = false, *shows = table_find_shown(sheet);
    for (size_t i = 0; i < sheet->column_count; i++)
        any |= sheet->columns[i].heading != NULL;
    for (size_t i = 0; shows && !any && i < sheet->column_count; i++)
        shows[i] = true;
    return shows;
}

static void print_markdown_cell(FILE *stream, const struct table_sheet *sheet, size_t at) {
    const struct table_column *column = &sheet->columns[at % sheet->column_count];
    const struct table_cell *cell = &sheet->cells[at];
    double number = column->percent ? 100 * cell->number : cell->number;
    if (cell->text)
        print_markdown_text(stream, table_shown(sheet, cell->text));
    else if (is_small(column, number))
        fprintf(stream, "%.1e", number);
    else if (isfinite(number) && column->heading)
        fprintf(stream, "%.*f", column->decimals, number);
    else if (isfinite(number))
        fprintf(stream, "%.*g", TABLE_DIGITS, number);
}

void table_print_markdown(FILE *stream, const struct table_sheet *sheet) {
    SS_OWNED(free) bool *shows = find_in_markdown(sheet);
    if (!shows) {
        fputs("Out of memory: a table is missing here.\n", stream);
        return;
    }
    for (size_t i = 0; i < sheet->column_count; i++) {
        const struct table_column *column = &sheet->columns[i];
        if (!shows[i])
            continue;
        fputs("| ", stream);
        print_markdown_text(stream, column->heading ? column->heading : column->name);
        fputc(' ', stream);
    }
    fputs("|\n", stream);
    for (size_t i = 0; i < sheet->column_count; i++) {
        bool is_text = sheet->count > 0 && sheet->cells[i].text;
        if (shows[i])
            fputs(is_text ? "| --- " : "| ---: ", stream);
    }
    fputs("|\n", stream);
    for (size_t i = 0; i < sheet->count; i++) {
        if (shows[i % sheet->column_count]) {
            fputs("| ", stream);
            print_markdown_cell(stream, sheet, i);
            fputc(' ', stream);
        }
        if ((i + 1) % sheet->column_count == 0)
            fputs("|\n", stream);
    }
}

/* Returns the length of the next letter in bytes; invalid bytes are single letters. */
static size_t next_letter(const char *text) {
    size_t length = text_letter_length(text);
    return length > 0 ? length : 1;
}

static void print_letter(FILE *stream, const char *text) {
    if ((unsigned char)*text < ' ' || *text == 0x7f)
        fputc(' ', stream);
    else if (text_letter_length(text) == 0)
        fputc('?', stream);
    else
        fwrite(text, 1, text_letter_length(text), stream);
}

void table_text_name(FILE *stream, const char *name, int width) {
    int letters = 0;
    for (const char *at = name; *at; at += next_letter(at))
        letters++;
    int cut = letters > width ? letters - width + 2 : 0;
    fputs(cut > 0 ? ".." : "", stream);
    for (; *name; name += next_letter(name)) {
        if (cut-- <= 0)
            print_letter(stream, name);
    }
    fprintf(stream, "%*s", letters < width ? width - letters : 0, "");
}

void table_text_number(FILE *stream, int width, int decimals, double number) {
    if (fabs(number) < 0.5 * pow(10, -decimals))
        number = 0; /* avoids -0 */
    if (isfinite(number))
        fprintf(stream, " %*.*f", width, decimals, number);
    else
        fprintf(stream, " %*s", width, "-");
}

/* Returns whether a column is flush left: text, unless it is narrow. */
static bool is_left(const struct table_sheet *sheet, size_t column) {
    return sheet->cells[column].text && sheet->columns[column].text.width >= 10;
}

/* Returns 1 if a column is flush left and the previous one is not, otherwise 0. */
static int gap_before(const struct table_sheet *sheet, size_t column) {
    for (size_t i = column; i-- > 0;) {
        if (sheet->columns[i].text.heading)
            return is_left(sheet, column) && !is_left(sheet, i);
    }
    return 0;
}

/*
 * Returns 1 if a column and the next one are flush left, so that their texts could touch, otherwise
 * 0.
 */
static int gap_after(const struct table_sheet *sheet, size_t column) {
    for (size_t i = column + 1; i < sheet->column_count; i++) {
        if (sheet->columns[i].text.heading)
            return is_left(sheet, column) && is_left(sheet, i);
    }
    return 0;
}

/* Truncates a heading that is too long for its column. */
static void print_heading(FILE *stream, const struct table_sheet *sheet, size_t at) {
    const struct table_column *column = &sheet->columns[at];
    int before = gap_before(sheet, at), after = gap_after(sheet, at);
    int width = column->text.width - before - after;
    if (is_left(sheet, at))
        fprintf(stream, "%*s%-*.*s%*s", before, "", width, width, column->text.heading, after, "");
    else
        fprintf(stream, "%*.*s", width, width - (at > 0), column->text.heading);
}

static void print_text_cell(FILE *stream, const struct table_sheet *sheet, size_t at) {
    size_t index = at % sheet->column_count;
    const struct table_column *column = &sheet->columns[index];
    const struct table_cell *cell = &sheet->cells[at];
    int before = gap_before(sheet, index), after = gap_after(sheet, index);
    double number = column->percent ? 100 * cell->number : cell->number;
    fprintf(stream, "%*s", before, "");
    if (cell->text)
        table_text_name(
            stream, table_shown(sheet, cell->text), column->text.width - before - after);
    else if (is_small(column, number))
        fprintf(stream, " %*.1e", column->text.width - 1, number);
    else
        table_text_number(stream, column->text.width - 1, column->decimals, number);
    fprintf(stream, "%*s", after, "");
}

void table_print_text(FILE *stream, const struct table_sheet *sheet, const char *title) {
    if (sheet->count == 0)
        return;
    fprintf(stream, "\n%s\n", title);
    for (size_t i = 0; i < sheet->column_count; i++) {
        if (sheet->columns[i].text.heading)
            print_heading(stream, sheet, i);
    }
    for (size_t i = 0; i < sheet->count; i++) {
        size_t at = i % sheet->column_count;
        if (at == 0)
            fputc('\n', stream);
        if (sheet->columns[at].text.heading)
            print_text_cell(stream, sheet, i);
    }
    fputc('\n', stream);
}
