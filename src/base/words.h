/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_WORDS_H
#define SHOWSTOPPER_BASE_WORDS_H

#include <stdio.h>

#include <showstopper/error.h>

/*
 * Splits a line into words as a shell would: blanks, single and double quotes, backslashes; `#` at
 * the beginning of a word starts a comment. Nothing is expanded. The words and the list, which
 * ends with NULL, are one block: free() it. NULL with `error` set on an open quote. `count` may be
 * NULL.
 */
char **ss_words_split(const char *line, size_t *count, struct ss_error *error);

/* Writes a word so that a shell, and ss_words_split(), read it back: in quotes where it must be. */
void ss_words_quote(FILE *stream, const char *word);

/*
 * What somebody wrote, made fit to stand in a message: on one line, cut where it is long. Use it
 * in the argument list: ss_error_set(error, 125, "'%s' is ...", ss_words_show(text).text).
 */
struct ss_words_shown {
    char text[96];
};

struct ss_words_shown ss_words_show(const char *text);

#endif
