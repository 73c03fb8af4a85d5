/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PUBLISHED_PUBLISHED_H
#define PUBLISHED_PUBLISHED_H

/*
 * Figures published by others, for comparison. They are tables in a folder: references.csv lists
 * and describes the tables, and names.csv maps workloads of this project to published ones.
 */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

#include "record_warnings.h"
#include "statistics.h"

#define PUBLISHED_KEYS_MAX 3
#define PUBLISHED_WORD     32 /* size limit of a key, a name or a value, with the final 0 */
#define PUBLISHED_TEXT     128

/* A row of references.csv. */
struct published_table {
    char name[PUBLISHED_WORD];    /* name of the file, without ".csv"; empty without values */
    size_t keys;                  /* number of leading columns, which identify a row */
    char program[PUBLISHED_WORD]; /* program that prints the table */
    char source[PUBLISHED_TEXT];  /* publication */
    char tables[PUBLISHED_WORD];  /* number of the table in the publication */
    char what[PUBLISHED_TEXT];    /* content of the table */
    char beside[PUBLISHED_WORD];  /* table of the report that also shows its values */
    char note[PUBLISHED_TEXT];
    double tau; /* mean length of a round, seconds; NaN if irrelevant */
};

/* A value of a table. The values of a row are adjacent. */
struct published_cell {
    size_t table;
    char keys[PUBLISHED_KEYS_MAX][PUBLISHED_WORD];
    char column[PUBLISHED_WORD];
    char text[PUBLISHED_WORD]; /* empty if not published */
};

struct published_name {
    char ours[PUBLISHED_WORD], theirs[PUBLISHED_WORD];
};

/* Zeroed: no figures. */
struct published {
    struct published_table *tables;
    size_t table_count, table_capacity;
    struct published_cell *cells;
    size_t cell_count, cell_capacity;
    bool *printed; /* for each cell, whether published_print() returned it; owned */
    struct published_name *names;
    size_t name_count, name_capacity;
};

/* Writes the path of the folder: next to the running program, otherwise in the installation. */
SS_WRITES(1, 2) void published_folder(char *folder, size_t size);

/* Reads the tables that `program` prints. Adds a note for each table that cannot be read. */
void published_read(struct published *published, const char *folder, const char *program,
    struct ssreport_notes *notes) SS_NONNULL();

void published_free(struct published *published) SS_NONNULL();

/* Returns NULL if absent. */
const struct published_table *published_find_table(
    const struct published *published, const char *name) SS_NONNULL();

/*
 * Returns whether a word of a published table means the same as one of this project: pi_even means
 * pi-even, and dacapo/fop means serial.
 */
bool published_is_word(const struct published *published, const char *theirs, const char *ours)
    SS_NONNULL();

/*
 * Finds a cell by its table, all keys of the table, and its column. Programs are named
 * SUITE/PROGRAM. Also accepts words of this project; see published_is_word(). Returns NULL if the
 * cell is absent, or if a word is NULL.
 */
const struct published_cell *published_find(const struct published *published, const char *table,
    const char *const *keys, const char *column) SS_NONNULL(1, 2, 3);

/*
 * Like published_find(), but the last key is a number: accepts the nearest one in the table if it
 * is at most `within` away.
 */
const struct published_cell *published_find_near(const struct published *published,
    const char *table, const char *const *keys, const char *column, double within)
    SS_NONNULL(1, 2, 3);

/* Returns the value of a cell; NaN if it is not a number or `cell` is NULL. */
double published_number(const struct published_cell *cell);

/* Like published_number(), and counts the cell as printed in the report. */
double published_print(const struct published *published, const struct published_cell *cell)
    SS_NONNULL(1);

/* Returns whether the text of a cell contains this word; false if the cell is NULL. */
bool published_has_word(const struct published *published, const struct published_cell *cell,
    const char *word) SS_NONNULL(1);

/* Returns how many cells of a table are numbers, and perhaps only those that published_print()
 * returned. */
size_t published_count(const struct published *published, const struct published_table *table,
    bool only_printed) SS_NONNULL();

/* Returns the range of the numbers in rows with this first key. */
struct ssreport_range published_range(
    const struct published *published, const char *table, const char *key) SS_NONNULL(1, 2);

#endif
