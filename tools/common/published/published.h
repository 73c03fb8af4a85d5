/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PUBLISHED_H
#define PUBLISHED_H

/*
 * Figures that others have published, to be compared with ours. They are tables in a folder:
 * references.csv names and describes each of them, names.csv says which of our workloads represents
 * which of theirs.
 */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

#include "record_warnings.h"
#include "statistics.h"

#define PUBLISHED_KEYS_MAX 3
#define PUBLISHED_WORD     32 /* bytes of a key, a name or a value, with the final 0 */
#define PUBLISHED_TEXT     128

/* A row of references.csv. */
struct published_table {
    char name[PUBLISHED_WORD];    /* of the file, without ".csv"; empty: there are no values */
    size_t keys;                  /* its first columns, which name a row */
    char program[PUBLISHED_WORD]; /* that shows it */
    char source[PUBLISHED_TEXT];  /* where it was published */
    char tables[PUBLISHED_WORD];  /* its number there */
    char what[PUBLISHED_TEXT];    /* it holds */
    char beside[PUBLISHED_WORD];  /* the table of ours that has its values, too */
    char note[PUBLISHED_TEXT];
    double tau; /* mean length of a round, in seconds; NaN: of no matter */
};

/* A value; those of a row follow each other. */
struct published_cell {
    size_t table;
    char keys[PUBLISHED_KEYS_MAX][PUBLISHED_WORD];
    char column[PUBLISHED_WORD];
    char text[PUBLISHED_WORD]; /* empty: not published */
};

struct published_name {
    char ours[PUBLISHED_WORD], theirs[PUBLISHED_WORD];
};

/* Zeroed: none. */
struct published {
    struct published_table *tables;
    size_t table_count, table_capacity;
    struct published_cell *cells;
    size_t cell_count, cell_capacity;
    struct published_name *names;
    size_t name_count, name_capacity;
};

/* The folder that belongs to the running program, or to where it was to be installed. */
SS_WRITES(1, 2) void published_folder(char *folder, size_t size);

/* Reads the tables that `program` shows; `notes` says what cannot be read. */
void published_read(struct published *published, const char *folder, const char *program,
    struct ssreport_notes *notes) SS_NONNULL();

void published_free(struct published *published) SS_NONNULL();

/* NULL if there is no table of this name. */
const struct published_table *published_find_table(
    const struct published *published, const char *name) SS_NONNULL();

/*
 * Finds a cell by its table, its first two keys and its column. Words may be ours: `serial` stands
 * for what the tables call fop, `pi-even` for pi_even. NULL if absent; NULL as a word is absent.
 */
const struct published_cell *published_find(const struct published *published, const char *table,
    const char *const keys[2], const char *column) SS_NONNULL(1, 2, 3);

/* The number of a cell; NaN if it has none, or for NULL. */
double published_number(const struct published_cell *cell);

/* Whether the text of a cell has this word; false for NULL. */
bool published_has_word(const struct published *published, const struct published_cell *cell,
    const char *word) SS_NONNULL(1);

/* How many cells of a table are numbers. */
size_t published_count(const struct published *published, const struct published_table *table)
    SS_NONNULL();

/* The range of the numbers in rows with this first key. */
struct ssreport_range published_range(
    const struct published *published, const char *table, const char *key) SS_NONNULL(1, 2);

#endif
