/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_FIELDS_H
#define TEXT_FIELDS_H

/*
 * Rows of separated fields. A field may be in double quotes, in which "" is a quote; blanks around
 * a field are ignored. Splitting a row allocates nothing; unused fields are only counted.
 */

#include <stdbool.h>

#include <showstopper/contract.h>

#include "input.h"

#define TEXT_PICKS_MAX 32
#define TEXT_NAME_SIZE 512 /* size limit of a name in bytes, with the final 0 */

struct text_field {
    const char *text; /* points into the line, without a final 0 */
    size_t length;    /* bytes */
    size_t column;    /* column of its first byte, from 1, for messages */
};

/* Iterates over the fields of a line. */
struct text_walk {
    struct text_input *input;
    const char *at; /* NULL after the last field */
    char separator; /* ' ': any number of blanks and tabs */
};

struct text_pick {
    size_t number; /* from 1 */
    struct text_field *field;
};

struct text_table {
    struct text_input *input;
    char separator;
    size_t columns; /* number of fields in each row; 0: the number in the first row */
    size_t count;
    struct text_pick picks[TEXT_PICKS_MAX]; /* picked fields, in the order of their numbers */
};

/* Guesses the separator of the fields of a line; ' ' means blanks and tabs. */
SS_NONNULL() char text_guess_separator(const char *line);

SS_NONNULL() void text_walk_begin(struct text_walk *walk, struct text_input *input, char separator);

/* Returns 1, 0 if no field is left, or -1 if quotes are invalid. */
SS_NONNULL() int text_walk_next(struct text_walk *walk, struct text_field *field);

/* Counts the remaining fields. Returns -1 if a quote is invalid after `*count` fields. */
SS_NONNULL() int text_walk_count(struct text_walk *walk, size_t *count);

/* Stores field `number` of each following row in `field`. */
SS_NONNULL()
void text_table_pick(struct text_table *table, size_t number, struct text_field *field);

/*
 * Reads the picked fields of the next row. Skips empty lines and lines that begin with #. Returns
 * 1, 0 if no row is left, or -1 with the input's error set, also for a wrong number of fields.
 */
SS_NONNULL() int text_table_next(struct text_table *table);

/* Reads the picked fields of the current line. Returns 1 or, like text_table_next(), -1. */
SS_NONNULL() int text_table_split(struct text_table *table);

SS_NONNULL() bool text_table_is_row(const struct text_input *input);

/* Like text_input_read_line(), but skips lines that are not rows. */
SS_NONNULL() int text_table_read_row(struct text_input *input);

/* Returns whether a field is `word`, ignoring case. */
SS_NONNULL() bool text_field_is(const struct text_field *field, const char *word);

/* Copies a field and replaces doubled quotes. Fails if the field is too long for a name. */
SS_MUST_USE SS_NONNULL() int text_field_name(
    const struct text_field *field, struct text_input *input, char name[TEXT_NAME_SIZE]);

/* A number as written: digits times a power of 10. Digits after the 19th are dropped. */
struct text_decimal {
    bool negative;
    uint64_t digits;
    int power;
};

/*
 * Parses a whole text, which needs no final 0, as a decimal number with an optional sign and
 * exponent. One of `marks` may precede the decimals. Returns false for anything else.
 */
SS_READS(1, 2)
bool text_decimal_parse(
    const char *text, size_t length, const char *marks, struct text_decimal *decimal);

/*
 * Parses a finite decimal number, independently of the locale; with `comma`, the decimal mark may
 * be a comma. A missing value (empty, -, nan, na, n/a, null or none) is NaN. Returns false for
 * anything else.
 */
SS_NONNULL() bool text_field_number(const struct text_field *field, bool comma, double *value);

#endif
