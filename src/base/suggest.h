/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_SUGGEST_H
#define SHOWSTOPPER_BASE_SUGGEST_H

#include <stddef.h>

#include <showstopper/error.h>

/* A table whose rows begin with their names: an array of names, or of structs. */
struct ss_suggest_names {
    const char *what; /* kind of name for the message, such as "option" */
    const void *rows;
    size_t count, size; /* number of rows, and of bytes in a row */
    const char *hint;   /* where to look if no name is close; NULL: list the names */
};

/* Initializes `rows`, `count` and `size`. */
#define SS_SUGGEST_ROWS(array) (array), sizeof(array) / sizeof *(array), sizeof *(array)

/*
 * Returns the name that `word` most likely means: the one with the fewest letters changed, added,
 * dropped or swapped, or one that begins with `word`; NULL if none is close. Ignores case.
 */
SS_NONNULL() const char *ss_suggest(const struct ss_suggest_names *names, const char *word);

/*
 * Returns the index of the row with this name. If there is none, refuses the word and returns -1.
 */
SS_NONNULL(1, 2)
int ss_suggest_find(const struct ss_suggest_names *names, const char *word, struct ss_error *error);

/*
 * Refuses a word that is not one of the names: "unknown option '--targte': did you mean
 * '--target'?" Returns -1.
 */
SS_NONNULL(1, 2)
int ss_suggest_refuse(
    const struct ss_suggest_names *names, const char *word, struct ss_error *error);

#endif
