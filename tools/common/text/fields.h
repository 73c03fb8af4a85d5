/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_FIELDS_H
#define TEXT_FIELDS_H

/*
 * Rows of separated fields. A field may be in double quotes, inside of which "" is a quote; blanks
 * around a field are ignored. Splitting a row allocates nothing; unused fields are only counted.
 */

#include <stdbool.h>

#include <showstopper/contract.h>

#include "input.h"

#define SSTRACE_PICKS 32
#define SSTRACE_NAME  512 /* size limit of a name in bytes, with the final 0 */

struct sstrace_field {
    const char *text; /* points into the line, without a final 0 */
    size_t length;    /* bytes */
    size_t column;    /* column of its first byte, from 1, for messages */
};

/* Iterates over the fields of a line. */
struct sstrace_walk {
    struct sstrace_input *input;
    const char *at; /* NULL after the last field */
    char separator; /* ' ': any number of blanks and tabs */
};

struct sstrace_pick {
    size_t number; /* from 1 */
    struct sstrace_field *field;
};

struct sstrace_table {
    struct sstrace_input *input;
    char separator;
    size_t columns; /* number of fields in each row; 0: the number in the first row */
    size_t count;
    struct sstrace_pick picks[SSTRACE_PICKS]; /* picked fields, in the order of their numbers */
};

/*
 * Sets the separator from an option, "tab" or a single character; if the option is NULL, guesses
 * the separator from the line.
 */
SS_MUST_USE SS_NONNULL(2, 3) int sstrace_table_separator(
    const char *option, const char *line, char *separator, struct ss_error *error);

SS_NONNULL()
void sstrace_walk_begin(struct sstrace_walk *walk, struct sstrace_input *input, char separator);

/* Returns 1, 0 if no field is left, or -1 if quotes are invalid. */
SS_NONNULL()
int sstrace_walk_next(struct sstrace_walk *walk, struct sstrace_field *field);

/* Counts the remaining fields. Returns -1 if a quote is invalid after `*count` fields. */
SS_NONNULL()
int sstrace_walk_count(struct sstrace_walk *walk, size_t *count);

/* Stores field `number` of each following row in `field`. */
SS_NONNULL()
void sstrace_table_pick(struct sstrace_table *table, size_t number, struct sstrace_field *field);

/*
 * Reads the picked fields of the next row. Skips empty lines and lines that begin with #. Returns
 * 1, 0 if no row is left, or -1 if there are too few fields or too many.
 */
SS_NONNULL()
int sstrace_table_next(struct sstrace_table *table);

/*
 * Splits the current line and reads its picked fields. Returns the same values as
 * sstrace_table_next().
 */
SS_NONNULL()
int sstrace_table_split(struct sstrace_table *table);

SS_NONNULL()
bool sstrace_table_is_row(const struct sstrace_input *input);

/* Like sstrace_input_read_line(), but skips lines that are not rows. */
SS_NONNULL()
int sstrace_table_read_row(struct sstrace_input *input);

/* Returns whether a field is `word`, ignoring case. */
SS_NONNULL()
bool sstrace_field_is(const struct sstrace_field *field, const char *word);

/* Replaces doubled quotes in the text of a field. They occur only inside quotes. */
SS_NONNULL()
void sstrace_field_unquote(char *text);

/* Copies a field and replaces doubled quotes. Fails if the field is too long for a name. */
SS_NONNULL()
int sstrace_field_name(
    const struct sstrace_field *field, struct sstrace_input *input, char name[SSTRACE_NAME]);

/*
 * Parses a finite decimal number, whatever the locale; with `comma`, the decimal mark may be a
 * comma. A missing value (empty, -, nan, na, n/a, null or none) is NaN. Returns false for anything
 * else.
 */
SS_NONNULL()
bool sstrace_field_number(const struct sstrace_field *field, bool comma, double *value);

#endif
