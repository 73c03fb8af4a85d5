/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_TREE_H
#define SSPLATFORM_TREE_H

/*
 * The files in which the kernel describes the machine: those of this machine, or copies in a
 * folder. Functions that read them do not fail: a missing, empty or binary file is unknown.
 */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/error.h>

struct ssplatform_tree {
    const char *root; /* NULL: this machine */
    int folder;
};

int ssplatform_tree_open(struct ssplatform_tree *tree, const char *root, struct ss_error *error);
void ssplatform_tree_close(struct ssplatform_tree *tree);

/* Paths are formats, and do not begin with a slash. */
#define SSPLATFORM_PATH __attribute__((format(printf, 2, 3)))

/* Returns the content of a small file, with a final 0; NULL if unknown. free() the result. */
SSPLATFORM_PATH char *ssplatform_tree_read(
    const struct ssplatform_tree *tree, const char *format, ...);

/*
 * Returns the content of a file that grows with the machine, with a final 0; NULL if unknown.
 * free() the result. `length` may be NULL.
 */
char *ssplatform_tree_read_large(
    const struct ssplatform_tree *tree, const char *path, size_t *length);

/* Returns the only line of a file, trimmed; NULL if unknown or empty. free() the result. */
SSPLATFORM_PATH char *ssplatform_tree_line(
    const struct ssplatform_tree *tree, const char *format, ...);

/* Returns the text after a key in its line, trimmed; NULL if unknown. free() the result. */
char *ssplatform_tree_value(const struct ssplatform_tree *tree, const char *path, const char *key);

/* Returns the only line as a number, which may be negative; NaN if it is not a number. */
SSPLATFORM_PATH double ssplatform_tree_number(
    const struct ssplatform_tree *tree, const char *format, ...);

/*
 * Reads a descriptor to its end. Returns NULL if that fails or exceeds `limit` bytes. free() the
 * result.
 */
char *ssplatform_read_all(int descriptor, size_t limit, size_t *length);

/* Returns whether a file of any type has this name. */
SSPLATFORM_PATH bool ssplatform_tree_has(
    const struct ssplatform_tree *tree, const char *format, ...);

/* The names in a folder, sorted. `list` is NULL if they are unknown. */
struct ssplatform_names {
    char **list;
    size_t count;
};

struct ssplatform_names ssplatform_tree_list(const struct ssplatform_tree *tree, const char *path);
void ssplatform_names_free(struct ssplatform_names *names);

/* Parses a decimal number. Returns NaN for anything else, and for NULL. */
double ssplatform_number(const char *text);

/* Trims blanks in place. Returns NULL if nothing is left or `text` has a control character. */
char *ssplatform_trim(char *text);

#endif
