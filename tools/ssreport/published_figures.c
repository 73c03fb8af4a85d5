/* SPDX-License-Identifier: Apache-2.0 */
#include "published_figures.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "csv.h"
#include "platform/platform.h"

#define COLUMNS_MAX (SSTRACE_PICKS + 1)

#define PROBABLE "probable"

// clang-format off
#define CONSTANT_COLUMNS {"workload", "target_percent", "nbench", "cdc", "geom_uneven",            \
    "geom_even", "pi_uneven", "pi_even", PROBABLE}
#define INTERFERENCE_COLUMNS {"pinning", "foreground", "avrora", "h2", "luindex", "scalac", "specs"}

/* A row gives as many fields as SSTRACE_PICKS, so no table has more columns. */
static const struct {
    const char *file;
    size_t keys; /* so many columns name the row */
    const char *columns[COLUMNS_MAX];
} tables[SSREPORT_PUBLISHED_TABLES] = {
    [SSREPORT_PUBLISHED_MEAN_ERROR] = {"constant-load-mean-error.csv", 2, CONSTANT_COLUMNS},
    [SSREPORT_PUBLISHED_MSE] = {"constant-load-mse.csv", 2, CONSTANT_COLUMNS},
    [SSREPORT_PUBLISHED_REPLAY] = {"replay-mse-range.csv", 1, {"workload",
        "geom_uneven_min", "geom_uneven_max", "geom_even_min", "geom_even_max",
        "pi_uneven_min", "pi_uneven_max", "pi_even_min", "pi_even_max"}},
    [SSREPORT_PUBLISHED_KVM] = {"interference-kvm.csv", 2, INTERFERENCE_COLUMNS},
    [SSREPORT_PUBLISHED_LXC] = {"interference-lxc.csv", 2, INTERFERENCE_COLUMNS},
};
// clang-format on

/* Classes of workloads, and the program that they stand for. */
static const struct {
    const char *ours, *theirs;
} programs[] = {{"serial", "fop"}, {"blocking", "avrora"}, {"parallel", "sunflow"}};

/* ---- where they are ---- */

void ssreport_published_folder(char *folder, size_t size) {
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
        snprintf(folder, size, "%s/" SSREPORT_PUBLISHED_SUBDIR, program);
        if (access(folder, F_OK) == 0)
            return;
    }
    snprintf(folder, size, "%s", SSREPORT_PUBLISHED_INSTALL_DIR);
}

/* ---- reading ---- */

struct reader {
    struct ssreport_published *published;
    enum ssreport_published_table table;
};

static void copy_field(char text[24], const struct sstrace_field *field) {
    snprintf(text, 24, "%.*s", (int)field->length, field->text);
}

static bool take_row(void *context, const struct sstrace_field *fields) {
    struct reader *reader = context;
    struct ssreport_published *published = reader->published;
    size_t keys = tables[reader->table].keys;
    for (size_t i = keys; tables[reader->table].columns[i]; i++) {
        if (fields[i].length == 0)
            continue;
        if (!ssreport_csv_make_room((void **)&published->cells, published->count,
                &published->capacity, sizeof *published->cells))
            return false;
        struct ssreport_published_cell *cell = &published->cells[published->count++];
        *cell = (struct ssreport_published_cell){
            .table = reader->table, .column = tables[reader->table].columns[i]};
        for (size_t j = 0; j < keys; j++)
            copy_field(cell->keys[j], &fields[j]);
        copy_field(cell->text, &fields[i]);
    }
    return true;
}

void ssreport_published_read(
    struct ssreport_published *published, const char *folder, struct ssreport_notes *notes) {
    for (int i = 0; i < SSREPORT_PUBLISHED_TABLES; i++) {
        struct reader reader = {.published = published, .table = i};
        struct ssreport_csv csv = {.name = tables[i].file,
            .columns = tables[i].columns,
            .optional = ~((1U << tables[i].keys) - 1),
            .take = take_row,
            .context = &reader};
        struct ss_error error = {0};
        if (ssreport_csv_read(folder, &csv, notes, &error) < 0)
            ssreport_notes_add(notes, "published figures: %s", error.message);
    }
}

void ssreport_published_free(struct ssreport_published *published) {
    free(published->cells);
    *published = (struct ssreport_published){0};
}

/* ---- looking up ---- */

/* Whether a word of theirs is the same as one of ours. */
static bool is_word(const char *theirs, const char *ours) {
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (strcmp(ours, programs[i].ours) == 0)
            ours = programs[i].theirs;
    }
    while (*theirs && (*theirs == *ours || (*theirs == '_' && *ours == '-'))) {
        theirs++;
        ours++;
    }
    return *theirs == *ours;
}

static const struct ssreport_published_cell *find(const struct ssreport_published *published,
    enum ssreport_published_table table, const char *first, const char *second,
    const char *column) {
    for (size_t i = 0; first && second && column && i < published->count; i++) {
        const struct ssreport_published_cell *cell = &published->cells[i];
        if (cell->table == table && is_word(cell->keys[0], first) &&
            is_word(cell->keys[1], second) && is_word(cell->column, column))
            return cell;
    }
    return NULL;
}

static double number_of(const struct ssreport_published_cell *cell) {
    struct sstrace_field field = {.text = cell->text, .length = strlen(cell->text)};
    double number;
    return ssreport_csv_number(&field, &number) ? number : NAN;
}

const char *ssreport_published_file(enum ssreport_published_table table) {
    return tables[table].file;
}

bool ssreport_published_is_value(
    const struct ssreport_published_cell *cell, enum ssreport_published_table table) {
    return cell->table == table && isfinite(number_of(cell));
}

double ssreport_published_number(const struct ssreport_published *published,
    enum ssreport_published_table table, const char *first, const char *second,
    const char *column) {
    const struct ssreport_published_cell *cell = find(published, table, first, second, column);
    return cell ? number_of(cell) : NAN;
}

bool ssreport_published_is_probable(const struct ssreport_published *published,
    const char *workload, const char *target, const char *method) {
    const struct ssreport_published_cell *cell =
        find(published, SSREPORT_PUBLISHED_MEAN_ERROR, workload, target, PROBABLE);
    char words[sizeof cell->text], *rest = NULL;
    if (!cell || !method)
        return false;
    memcpy(words, cell->text, sizeof words);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (is_word(word, method))
            return true;
    }
    return false;
}

struct ssreport_range ssreport_published_range(const struct ssreport_published *published,
    enum ssreport_published_table table, const char *first) {
    struct ssreport_range range = {NAN, NAN};
    for (size_t i = 0; first && i < published->count; i++) {
        const struct ssreport_published_cell *cell = &published->cells[i];
        if (cell->table != table || !is_word(cell->keys[0], first))
            continue;
        range.least = fmin(range.least, number_of(cell));
        range.most = fmax(range.most, number_of(cell));
    }
    return range;
}
