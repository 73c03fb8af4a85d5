/* SPDX-License-Identifier: Apache-2.0 */
#include "csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool csv_number(const struct text_field *field, double *value) {
    return text_field_number(field, false, value) && isfinite(*value);
}

void csv_trim(struct text_field *field) {
    while (field->length > 0 && strchr(" \t\r", field->text[0])) {
        field->text++;
        field->column++;
        field->length--;
    }
    while (field->length > 0 && strchr(" \t\r", field->text[field->length - 1]))
        field->length--;
}

struct heading {
    size_t numbers[TEXT_PICKS_MAX]; /* number of each column's field, from 1; 0 if missing */
    size_t width;
    const char *missing, *repeated; /* a missing column, and a repeated one; NULL if none */
};

/* Finds the columns in the current line. Returns -1 if its quotes are invalid. */
static int find_columns(const struct csv_reader *reader, struct heading *heading) {
    struct text_walk walk;
    struct text_field field;
    int more;

    *heading = (struct heading){0};
    text_walk_begin(&walk, reader->input, reader->separator);
    while ((more = text_walk_next(&walk, &field)) > 0) {
        csv_trim(&field);
        heading->width++;
        for (size_t i = 0; i < reader->count; i++) {
            if (!text_field_is(&field, reader->columns[i]))
                continue;
            if (heading->numbers[i] > 0)
                heading->repeated = reader->columns[i];
            heading->numbers[i] = heading->width;
        }
    }

    for (size_t i = reader->count; i > 0; i--) {
        if (heading->numbers[i - 1] == 0)
            heading->missing = reader->columns[i - 1];
    }

    return more;
}

static void use_heading(struct csv_reader *reader, const struct heading *heading) {
    reader->table = (struct text_table){
        .input = reader->input, .separator = reader->separator, .columns = heading->width};
    for (size_t i = 0; i < reader->count; i++) {
        reader->fields[i] = (struct text_field){.text = ""};
        text_table_pick(&reader->table, heading->numbers[i], &reader->fields[i]);
    }
}

int csv_begin(struct csv_reader *reader, struct text_input *input, const char *const *columns,
    char separator) {
    *reader = (struct csv_reader){.input = input, .columns = columns};
    int more = text_table_read_row(input);
    if (more < 0)
        return -1;
    if (more == 0)
        return ss_error_fail(input->error, "%s is empty", input->name);

    reader->separator = separator ? separator : text_guess_separator(input->text);
    while (columns[reader->count])
        reader->count++;

    struct heading heading;
    if (find_columns(reader, &heading) < 0)
        return -1;
    if (heading.missing && reader->separator == ',' && !strchr(input->text, ',') &&
        strpbrk(input->text, ";\t"))
        return text_input_blame(input, 1, "columns must be separated by commas");
    if (heading.missing)
        return text_input_blame(input, 1, "no column '%s'", heading.missing);
    if (heading.repeated)
        return text_input_blame(input, 1, "column '%s' appears twice", heading.repeated);

    use_heading(reader, &heading);
    return 0;
}

/*
 * Returns whether the line is a heading, and applies it if so: concatenated files have several
 * headings, possibly with another order of columns.
 */
static bool take_heading(struct csv_reader *reader) {
    struct heading heading;
    struct ss_error ignored = {0}, *error = reader->input->error;

    if (!strcasestr(reader->input->text, reader->columns[0]))
        return false;

    reader->input->error = &ignored;
    int result = find_columns(reader, &heading);
    reader->input->error = error;

    if (result < 0 || heading.missing || heading.repeated)
        return false;
    use_heading(reader, &heading);
    return true;
}

int csv_next(struct csv_reader *reader) {
    struct text_input *input = reader->input;
    for (;;) {
        int more = text_table_read_row(input);
        if (more <= 0)
            return more;
        reader->unended = feof(input->stream);
        if (!take_heading(reader))
            return text_table_split(&reader->table);
    }
}
