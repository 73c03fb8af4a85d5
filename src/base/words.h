/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_WORDS_H
#define SHOWSTOPPER_BASE_WORDS_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/error.h>

/*
 * Splits a line into words as a shell would: at blanks, with single and double quotes, backslashes,
 * and $'...' with the escapes of bash; `#` at the beginning of a word starts a comment. Nothing is
 * expanded. The words and the list, which ends with NULL, are one block: free() it. Returns NULL
 * with `error` set if a quote is open, an escape is a null byte, or memory is exhausted. `count`
 * may be NULL.
 */
SS_NONNULL(1) char **ss_words_split(const char *line, size_t *count, struct ss_error *error);

/* Returns the number of words of a list that ends with NULL. */
static inline size_t ss_words_count(char *const *words) {
    size_t count = 0;
    while (words[count])
        count++;
    return count;
}

/*
 * Splits a list at its commas; a backslash escapes a comma or a backslash. The result has at least
 * one item. The items and the list, which ends with NULL, are one block: free() it. Returns NULL if
 * memory is exhausted. `count` may be NULL.
 */
char **ss_words_split_list(const char *text, size_t *count, struct ss_error *error);

/* A part of a text, not terminated. */
struct ss_words_part {
    const char *text;
    size_t length;
};

/*
 * Gets the next part of a list, up to `separator` or the end, and moves `at` past it. Returns false
 * at the end. An empty list has one part, which is empty.
 */
SS_NONNULL() bool ss_words_next(const char **at, char separator, struct ss_words_part *part);

SS_NONNULL() bool ss_words_is(const struct ss_words_part *part, const char *word);

SS_NONNULL() bool ss_words_has(const char *list, char separator, const char *word);

/*
 * Writes a word on one line, in quotes if necessary, so that a shell and ss_words_split() read it
 * back unchanged. A word with control characters becomes $'...'.
 */
SS_NONNULL() void ss_words_quote(FILE *stream, const char *word);

/* Returns the formatted text; free() it. Returns NULL with the error set if memory is exhausted. */
SS_FORMAT(2, 3) char *ss_words_format(struct ss_error *error, const char *format, ...);

/* Writes a text for people. Control characters, which a terminal would obey, become '?'. */
SS_NONNULL() void ss_words_print(FILE *stream, const char *text);

/*
 * A text from the user made safe for a message: one line, cut if it is long. Use it in the argument
 * list: ss_error_set(error, 125, "'%s' is ...", ss_words_show(text).text).
 */
struct ss_words_shown {
    char text[96];
};

SS_NONNULL() struct ss_words_shown ss_words_show(const char *text);

#endif
