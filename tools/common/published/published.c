/* SPDX-License-Identifier: Apache-2.0 */
#include "published.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "csv.h"
#include "platform/platform.h"

void published_folder(char *folder, size_t size) {
    char program[4096];
    char *slash = NULL;
    if (ss_platform_program_path(program, sizeof program) == 0) {
        for (int i = 0; i < 2; i++) {
            slash = strrchr(program, '/');
            if (slash)
                *slash = '\0';
        }
    }
    if (slash) {
        snprintf(folder, size, "%s/" PUBLISHED_SUBDIR, program);
        if (access(folder, F_OK) == 0)
            return;
    }
    snprintf(folder, size, "%s", PUBLISHED_INSTALL_DIR);
}

struct reader {
    struct published *published;
    const char *program;

    /* The current table and its heading. */
    size_t table;
    char columns[SSTRACE_PICKS][PUBLISHED_WORD];
    size_t column_count;
};

/* Returns false if the field is too long. */
static bool copy_field(char *text, size_t size, const struct sstrace_field *field) {
    if (field->length >= size)
        return false;
    memcpy(text, field->text, field->length);
    text[field->length] = '\0';
    return true;
}

static const char *const reference_columns[] = {
    "name", "program", "source", "tables", "what", "beside", "note", "keys", "tau_seconds", NULL};

static bool parse_reference(void *context, const struct sstrace_field *fields) {
    struct reader *reader = context;
    struct published *published = reader->published;
    struct published_table table = {.tau = NAN};
    double keys = 0;
    const struct {
        char *text;
        size_t size;
    } texts[] = {
        {table.name, sizeof table.name},
        {table.program, sizeof table.program},
        {table.source, sizeof table.source},
        {table.tables, sizeof table.tables},
        {table.what, sizeof table.what},
        {table.beside, sizeof table.beside},
        {table.note, sizeof table.note},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!copy_field(texts[i].text, texts[i].size, &fields[i]))
            return false;
    }
    if ((*table.name && (!ssreport_csv_number(&fields[7], &keys) || !(keys >= 1) ||
                            keys > PUBLISHED_KEYS_MAX)) ||
        (fields[8].length > 0 && !ssreport_csv_number(&fields[8], &table.tau)))
        return false;
    table.keys = (size_t)keys;
    if (strcmp(table.program, reader->program) != 0)
        return true;
    if (!SS_GROW(published->tables, published->table_count + 1, published->table_capacity))
        return false;
    published->tables[published->table_count++] = table;
    return true;
}

static bool parse_name(void *context, const struct sstrace_field *fields) {
    struct published *published = ((struct reader *)context)->published;
    struct published_name name;
    if (!copy_field(name.ours, sizeof name.ours, &fields[0]) ||
        !copy_field(name.theirs, sizeof name.theirs, &fields[1]) ||
        !SS_GROW(published->names, published->name_count + 1, published->name_capacity))
        return false;
    published->names[published->name_count++] = name;
    return true;
}

static bool parse_heading(void *context, const struct sstrace_field *fields, size_t count) {
    struct reader *reader = context;
    for (size_t i = 0; i < count; i++) {
        if (!copy_field(reader->columns[i], sizeof reader->columns[i], &fields[i]))
            return false;
    }
    reader->column_count = count;
    return true;
}

static bool parse_row(void *context, const struct sstrace_field *fields) {
    struct reader *reader = context;
    struct published *published = reader->published;
    size_t keys = published->tables[reader->table].keys;
    for (size_t i = keys; i < reader->column_count; i++) {
        struct published_cell cell = {.table = reader->table};
        bool fits = copy_field(cell.text, sizeof cell.text, &fields[i]);
        for (size_t j = 0; j < keys; j++)
            fits = fits && copy_field(cell.keys[j], sizeof cell.keys[j], &fields[j]);
        if (!fits ||
            !SS_GROW(published->cells, published->cell_count + 1, published->cell_capacity))
            return false;
        strcpy(cell.column, reader->columns[i]);
        published->cells[published->cell_count++] = cell;
    }
    return true;
}

/* Adds a note with the reason if the table cannot be read. */
static void read_table(
    const char *folder, const struct ssreport_csv *csv, struct ssreport_notes *notes) {
    struct ss_error error = {0};
    if (ssreport_csv_read(folder, csv, notes, &error) < 0)
        ssreport_notes_add(notes, "published figures: %s", error.message);
}

void published_read(struct published *published, const char *folder, const char *program,
    struct ssreport_notes *notes) {
    static const char *const name_columns[] = {"ours", "theirs", NULL};
    struct reader reader = {.published = published, .program = program};
    read_table(folder,
        &(struct ssreport_csv){.name = "references.csv",
            .columns = reference_columns,
            .take = parse_reference,
            .context = &reader},
        notes);
    read_table(folder,
        &(struct ssreport_csv){
            .name = "names.csv", .columns = name_columns, .take = parse_name, .context = &reader},
        notes);
    for (size_t i = 0; i < published->table_count; i++) {
        char name[PUBLISHED_WORD + 4];
        const struct published_table *table = &published->tables[i];
        if (!*table->name)
            continue;
        snprintf(name, sizeof name, "%s.csv", table->name);
        reader.table = i;
        read_table(folder,
            &(struct ssreport_csv){
                .name = name, .take_heading = parse_heading, .take = parse_row, .context = &reader},
            notes);
    }
    published->printed = calloc(published->cell_count + 1, sizeof *published->printed);
    if (!published->printed) {
        published->cell_count = 0;
        ssreport_notes_add(notes, "published figures: out of memory");
    }
}

void published_free(struct published *published) {
    free(published->tables);
    free(published->cells);
    free(published->printed);
    free(published->names);
    *published = (struct published){0};
}

const struct published_table *published_find_table(
    const struct published *published, const char *name) {
    for (size_t i = 0; i < published->table_count; i++) {
        if (strcmp(published->tables[i].name, name) == 0)
            return &published->tables[i];
    }
    return NULL;
}

bool published_is_word(const struct published *published, const char *theirs, const char *ours) {
    for (size_t i = 0; i < published->name_count; i++) {
        if (strcmp(ours, published->names[i].ours) == 0) {
            ours = published->names[i].theirs;
            break;
        }
    }
    while (*theirs && (*theirs == *ours || (*theirs == '_' && *ours == '-'))) {
        theirs++;
        ours++;
    }
    return *theirs == *ours;
}

static double number_of(const char *text) {
    double number;
    const struct sstrace_field field = {.text = text, .length = strlen(text)};
    return ssreport_csv_number(&field, &number) ? number : NAN;
}

/*
 * Returns the distance between the last of `keys` and the cell's last key: 0 if they are the same
 * word, NaN if they differ and one is not a number, or if another key differs.
 */
static double distance(
    const struct published *published, const struct published_cell *cell, const char *const *keys) {
    size_t last = published->tables[cell->table].keys - 1;
    for (size_t i = 0; i <= last; i++) {
        if (!keys[i] || (i < last && !published_is_word(published, cell->keys[i], keys[i])))
            return NAN;
    }
    return published_is_word(published, cell->keys[last], keys[last])
               ? 0
               : fabs(number_of(cell->keys[last]) - number_of(keys[last]));
}

const struct published_cell *published_find_near(const struct published *published,
    const char *table, const char *const *keys, const char *column, double within) {
    const struct published_table *described = published_find_table(published, table);
    const struct published_cell *found = NULL;
    double least = within;
    for (size_t i = 0; described && column && i < published->cell_count; i++) {
        const struct published_cell *cell = &published->cells[i];
        if (&published->tables[cell->table] != described ||
            !published_is_word(published, cell->column, column))
            continue;
        double away = distance(published, cell, keys);
        if (found ? away < least : away <= least) {
            found = cell;
            least = away;
        }
    }
    return found;
}

const struct published_cell *published_find(const struct published *published, const char *table,
    const char *const *keys, const char *column) {
    return published_find_near(published, table, keys, column, 0);
}

double published_number(const struct published_cell *cell) {
    return cell ? number_of(cell->text) : NAN;
}

double published_print(const struct published *published, const struct published_cell *cell) {
    if (cell)
        published->printed[cell - published->cells] = true;
    return published_number(cell);
}

bool published_has_word(
    const struct published *published, const struct published_cell *cell, const char *word) {
    char words[PUBLISHED_WORD], *rest = NULL;
    if (!cell || !word)
        return false;
    strcpy(words, cell->text);
    for (char *at = strtok_r(words, " ", &rest); at; at = strtok_r(NULL, " ", &rest)) {
        if (published_is_word(published, at, word))
            return true;
    }
    return false;
}

size_t published_count(
    const struct published *published, const struct published_table *table, bool only_printed) {
    size_t count = 0;
    for (size_t i = 0; i < published->cell_count; i++)
        count += &published->tables[published->cells[i].table] == table &&
                 (!only_printed || published->printed[i]) &&
                 isfinite(published_number(&published->cells[i]));
    return count;
}

struct ssreport_range published_range(
    const struct published *published, const char *table, const char *key) {
    struct ssreport_range range = {NAN, NAN};
    const struct published_table *described = published_find_table(published, table);
    for (size_t i = 0; described && key && i < published->cell_count; i++) {
        const struct published_cell *cell = &published->cells[i];
        if (&published->tables[cell->table] != described ||
            !published_is_word(published, cell->keys[0], key))
            continue;
        range.least = fmin(range.least, published_number(cell));
        range.most = fmax(range.most, published_number(cell));
    }
    return range;
}
