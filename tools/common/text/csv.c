/* SPDX-License-Identifier: Apache-2.0 */
#include "csv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wallclock.h"
#include "base/words.h"

bool ssreport_has_file(const char *folder, const char *name) {
    char path[8600];
    snprintf(path, sizeof path, "%.8200s/%.300s", folder, name);
    return access(path, F_OK) == 0;
}

bool ssreport_csv_number(const struct sstrace_field *field, double *value) {
    return sstrace_field_number(field, false, value) && isfinite(*value);
}

bool ssreport_csv_time(const struct sstrace_field *field, double *time) {
    char text[64];
    int64_t at;
    if (field->length >= sizeof text)
        return false;
    memcpy(text, field->text, field->length);
    text[field->length] = '\0';
    if (ss_wallclock_parse(text, 0, &at, NULL) < 0)
        return false;
    *time = (double)at / 1e9;
    return true;
}

void csv_trim(struct sstrace_field *field) {
    while (field->length > 0 && strchr(" \t\r", field->text[0])) {
        field->text++;
        field->column++;
        field->length--;
    }
    while (field->length > 0 && strchr(" \t\r", field->text[field->length - 1]))
        field->length--;
}

struct heading {
    size_t numbers[SSTRACE_PICKS]; /* number of each column's field, from 1; 0 if missing */
    size_t width;
    const char *missing, *twice; /* a missing column, and a repeated one; NULL if none */
};

/* Some spreadsheets write a byte order mark. */
static void drop_mark(struct sstrace_input *input) {
    if (strncmp(input->text, "\xef\xbb\xbf", 3) != 0)
        return;
    memmove(input->text, input->text + 3, input->length - 2);
    input->length -= 3;
}

/* Finds the columns in the current line. Returns -1 if its quotes are invalid. */
static int find_columns(const struct csv_reader *reader, struct heading *heading) {
    struct sstrace_walk walk;
    struct sstrace_field field;
    int more;
    *heading = (struct heading){0};
    sstrace_walk_begin(&walk, reader->input, reader->separator);
    while ((more = sstrace_walk_next(&walk, &field)) > 0) {
        csv_trim(&field);
        heading->width++;
        for (size_t i = 0; i < reader->count; i++) {
            if (!sstrace_field_is(&field, reader->columns[i]))
                continue;
            if (heading->numbers[i] > 0)
                heading->twice = reader->columns[i];
            heading->numbers[i] = heading->width;
        }
    }
    for (size_t i = reader->count; i > 0; i--) {
        if (heading->numbers[i - 1] == 0 && !(reader->optional & 1U << (i - 1)))
            heading->missing = reader->columns[i - 1];
    }
    return more;
}

static void use_heading(struct csv_reader *reader, const struct heading *heading) {
    reader->table = (struct sstrace_table){
        .input = reader->input, .separator = reader->separator, .columns = heading->width};
    for (size_t i = 0; i < reader->count; i++) {
        reader->fields[i] = (struct sstrace_field){.text = ""};
        if (heading->numbers[i] > 0)
            sstrace_table_pick(&reader->table, heading->numbers[i], &reader->fields[i]);
    }
}

/* Uses all columns, in order. Sets `fields` to their names. */
static int use_all(struct csv_reader *reader) {
    struct heading heading = {0};
    struct sstrace_walk walk;
    struct sstrace_field field;
    int more;
    sstrace_walk_begin(&walk, reader->input, reader->separator);
    while ((more = sstrace_walk_next(&walk, &field)) > 0) {
        if (heading.width == SSTRACE_PICKS)
            return sstrace_input_blame(
                reader->input, field.column, "too many columns (at most %d)", SSTRACE_PICKS);
        heading.numbers[heading.width] = heading.width + 1;
        heading.width++;
    }
    if (more < 0)
        return -1;
    reader->count = heading.width;
    use_heading(reader, &heading);
    return sstrace_table_split(&reader->table) > 0 ? 0 : -1;
}

/* Reads the first row. If `separator` is 0, guesses it from that row. */
static int begin(struct csv_reader *reader, char separator) {
    struct sstrace_input *input = reader->input;
    int more = sstrace_table_read_row(input);
    if (more < 0)
        return -1;
    if (more == 0)
        return ss_error_fail(input->error, "%s is empty", input->name);
    drop_mark(input);
    reader->separator = separator;
    if (separator)
        return 0;
    return sstrace_table_separator(NULL, input->text, &reader->separator, input->error);
}

static int begin_columns(struct csv_reader *reader) {
    struct sstrace_input *input = reader->input;
    struct heading heading;
    while (reader->columns[reader->count])
        reader->count++;
    if (find_columns(reader, &heading) < 0)
        return -1;
    if (heading.missing && reader->separator == ',' && !strchr(input->text, ',') &&
        strpbrk(input->text, ";\t"))
        return sstrace_input_blame(input, 1, "columns must be separated by commas");
    if (heading.missing)
        return sstrace_input_blame(input, 1, "no column '%s'", heading.missing);
    if (heading.twice)
        return sstrace_input_blame(input, 1, "column '%s' appears twice", heading.twice);
    use_heading(reader, &heading);
    return 0;
}

int csv_begin(struct csv_reader *reader, struct sstrace_input *input, const char *const *columns,
    unsigned optional) {
    *reader = (struct csv_reader){.input = input, .columns = columns, .optional = optional};
    if (begin(reader, ',') < 0)
        return -1;
    return columns ? begin_columns(reader) : use_all(reader);
}

int csv_begin_any(struct csv_reader *reader, struct sstrace_input *input,
    const char *const *columns, unsigned optional) {
    *reader = (struct csv_reader){.input = input, .columns = columns, .optional = optional};
    if (begin(reader, '\0') < 0)
        return -1;
    return columns ? begin_columns(reader) : use_all(reader);
}

/*
 * Returns whether the line is a heading, and uses it if so: joined files have several headings,
 * possibly with another order of columns.
 */
static bool is_heading(struct csv_reader *reader) {
    struct heading heading;
    struct ss_error ignored = {0}, *error = reader->input->error;
    if (!reader->columns || !strcasestr(reader->input->text, reader->columns[0]))
        return false;
    reader->input->error = &ignored;
    int result = find_columns(reader, &heading);
    reader->input->error = error;
    if (result < 0 || heading.missing || heading.twice)
        return false;
    use_heading(reader, &heading);
    return true;
}

static bool looks_like_row(const struct csv_reader *reader) {
    size_t separators = 0;
    for (const char *at = reader->input->text; *at && reader->separator != ' '; at++)
        separators += *at == reader->separator;
    return separators > 0 && separators + 1 == reader->table.columns;
}

enum csv_line csv_next(struct csv_reader *reader) {
    struct sstrace_input *input = reader->input;
    for (;;) {
        uint64_t before = input->line;
        reader->unended = false;
        int more = reader->broken ? 0 : sstrace_input_read_line(input);
        if (more == 0)
            return CSV_END;
        if (more < 0) {
            /* A line that cannot be read ends the table. */
            reader->broken = input->line == before || ferror(input->stream);
            return CSV_BAD;
        }
        drop_mark(input);
        if (sstrace_table_is_row(input))
            break;
        if (looks_like_row(reader))
            return CSV_COMMENT;
    }
    reader->unended = feof(input->stream);
    if (is_heading(reader))
        return CSV_HEADING;
    return sstrace_table_split(&reader->table) > 0 ? CSV_ROW : CSV_BAD;
}

struct faults {
    size_t count;
    char first[256];
};

static void note_fault(struct faults *faults, const struct sstrace_input *input, const char *why) {
    if (faults->count++ == 0)
        snprintf(faults->first, sizeof faults->first, "%.255s",
            input->error->status ? input->error->message : "");
    if (faults->count == 1 && !*faults->first)
        snprintf(faults->first, sizeof faults->first, "%s:%llu: %s, in \"%s\"", input->name,
            (unsigned long long)input->line, why ? why : "invalid row",
            ss_words_show(input->text).text);
    *input->error = (struct ss_error){0};
}

/* Returns false if the line is invalid; the input's error or `why` then has the reason. */
static bool handle_line(
    struct csv_reader *reader, enum csv_line line, const struct ssreport_csv *csv) {
    if (line == CSV_COMMENT)
        return true;
    if (reader->unended) {
        /* Without a newline, the last line may lack digits and still look complete. */
        *reader->input->error = (struct ss_error){0};
        sstrace_input_blame(
            reader->input, reader->input->length + 1, "the last line has no newline");
        return false;
    }
    if (line == CSV_HEADING)
        sstrace_input_blame(reader->input, 1, "unexpected second heading");
    return line == CSV_ROW && csv->take(csv->context, reader->fields);
}

static void read_rows(
    struct csv_reader *reader, const struct ssreport_csv *csv, struct faults *faults) {
    enum csv_line line;
    while ((line = csv_next(reader)) != CSV_END) {
        if (!handle_line(reader, line, csv))
            note_fault(faults, reader->input, csv->why ? *csv->why : NULL);
    }
}

static int open_input(struct sstrace_input *input, const char *folder,
    const struct ssreport_csv *csv, struct ss_error *error) {
    char path[4200];
    snprintf(path, sizeof path, "%.4000s%s%s", folder ? folder : "", folder ? "/" : "", csv->name);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return ss_error_fail(error, "%s: %s", csv->name, strerror(errno));
    return sstrace_input_open_descriptor(input, descriptor, csv->name, error);
}

int ssreport_csv_read(const char *folder, const struct ssreport_csv *csv,
    struct ssreport_notes *notes, struct ss_error *error) {
    struct sstrace_input input = {.descriptor = -1};
    struct csv_reader reader;
    struct faults faults = {0};
    struct ss_error fault = {0};
    if (open_input(&input, folder, csv, &fault) == 0 &&
        csv_begin(&reader, &input, csv->columns, csv->optional) == 0) {
        if (csv->columns || csv->take_heading(csv->context, reader.fields, reader.count))
            read_rows(&reader, csv, &faults);
        else
            sstrace_input_blame(&input, 1, "invalid heading");
    }
    struct ss_error ignored = {0};
    input.error = &ignored;
    sstrace_input_close(&input);
    if (fault.status)
        return ss_error_fail(error, "%s", fault.message);
    if (faults.count > 1)
        ssreport_notes_add(notes, "%s (and %zu more)", faults.first, faults.count - 1);
    else if (faults.count == 1)
        ssreport_notes_add(notes, "%s", faults.first);
    return 0;
}
