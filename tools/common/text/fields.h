/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_TABLE_H
#define SSTRACE_TABLE_H

/*
 * Rows of separated fields. A field may be in double quotes, inside of which
 * "" is one; blanks around a field do not matter. Nothing is allocated for a row, and it is split
 * only as far as its fields are used; the rest is only counted.
 */

#include <stdbool.h>

#include <showstopper/contract.h>

#include "input.h"

#define SSTRACE_PICKS 24
#define SSTRACE_NAME  512 /* bytes of a name, with the 0 */

struct sstrace_field {
    const char *text; /* in the line, without a final 0 */
    size_t length;    /* bytes */
    size_t column;    /* of its first byte, from 1, for messages */
};

/* The fields of one line, one after the other. */
struct sstrace_walk {
    struct sstrace_input *input;
    const char *at; /* NULL after the last */
    char separator; /* ' ': any number of blanks and tabs */
};

struct sstrace_pick {
    size_t number; /* of the field, from 1 */
    struct sstrace_field *field;
};

struct sstrace_table {
    struct sstrace_input *input;
    char separator;
    size_t columns; /* fields of every row; 0: as many as the first one has */
    size_t count;
    struct sstrace_pick picks[SSTRACE_PICKS]; /* in the order of their numbers */
};

/* From the option's "tab" or single character; if that is NULL, guessed from the line. */
SS_MUST_USE SS_NONNULL(2, 3) int sstrace_table_separator(
    const char *option, const char *line, char *separator, struct ss_error *error);

SS_NONNULL()
void sstrace_walk_begin(struct sstrace_walk *walk, struct sstrace_input *input, char separator);

/* 1: `field` is the next one. 0: no more fields. -1: invalid quotes. */
SS_NONNULL()
int sstrace_walk_next(struct sstrace_walk *walk, struct sstrace_field *field);

/* Counts the remaining fields. Returns -1 if a quote is invalid after `*count` fields. */
SS_NONNULL()
int sstrace_walk_count(struct sstrace_walk *walk, size_t *count);

/* Stores field `number` of each following row in `field`. */
SS_NONNULL()
void sstrace_table_pick(struct sstrace_table *table, size_t number, struct sstrace_field *field);

/*
 * 1: the picked fields are those of the next row, after empty lines and lines that begin with #. 0:
 * no more rows. -1: too few fields, or too many.
 */
SS_NONNULL()
int sstrace_table_next(struct sstrace_table *table);

/* Splits the line that was read last, with the same results. */
SS_NONNULL()
int sstrace_table_split(struct sstrace_table *table);

SS_NONNULL()
bool sstrace_table_is_row(const struct sstrace_input *input);

/* Like sstrace_input_read_line(), but reads up to the next row. */
SS_NONNULL()
int sstrace_table_read_row(struct sstrace_input *input);

/* Whether a field is `word`, ignoring case. */
SS_NONNULL()
bool sstrace_field_is(const struct sstrace_field *field, const char *word);

/* Copies a field, and undoubles its quotes. Fails if the field is too long for a name. */
SS_NONNULL()
int sstrace_field_name(
    const struct sstrace_field *field, struct sstrace_input *input, char name[SSTRACE_NAME]);

/*
 * Parses a decimal in any locale. A mark of a missing value (nothing, -, nan, na, n/a, null) gives
 * NaN. Returns false for anything else.
 */
SS_NONNULL()
bool sstrace_field_number(const struct sstrace_field *field, bool comma, double *value);

#endif
