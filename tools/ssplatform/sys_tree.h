/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_TREE_H
#define SSPLATFORM_TREE_H

/*
 * The files in which the kernel describes the machine, of this one or as recorded in a folder.
 * Whatever is missing, empty or no text is simply not known: no function here fails.
 */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/error.h>

struct ssplatform_tree {
    const char *root; /* NULL: the machine itself */
    int folder;
};

int ssplatform_tree_open(struct ssplatform_tree *tree, const char *root, struct ss_error *error);
void ssplatform_tree_close(struct ssplatform_tree *tree);

/* Paths are formats, and do not begin with a slash. */
#define SSPLATFORM_PATH __attribute__((format(printf, 2, 3)))

/* The content of a small file, with a final 0; free() it. NULL if unknown. */
SSPLATFORM_PATH char *ssplatform_tree_read(
    const struct ssplatform_tree *tree, const char *format, ...);

/* The same for files that grow with the machine. `length` may be NULL. */
char *ssplatform_tree_read_large(
    const struct ssplatform_tree *tree, const char *path, size_t *length);

/* The only line of a file without the blanks around it, not empty; free() it. */
SSPLATFORM_PATH char *ssplatform_tree_line(
    const struct ssplatform_tree *tree, const char *format, ...);

/* The text after a key in its line, without blanks around it; free() it. NULL if unknown.
 */
char *ssplatform_tree_value(const struct ssplatform_tree *tree, const char *path, const char *key);

/* NaN if the only line is not a number; it may be negative. */
SSPLATFORM_PATH double ssplatform_tree_number(
    const struct ssplatform_tree *tree, const char *format, ...);

/* All that comes out of it; NULL where it fails or is more than `limit`. free() it. */
char *ssplatform_read_all(int descriptor, size_t limit, size_t *length);

/* Whether something has this name, whatever it holds. */
SSPLATFORM_PATH bool ssplatform_tree_has(
    const struct ssplatform_tree *tree, const char *format, ...);

/* The names in a folder, sorted; `list` is NULL where they are not known. */
struct ssplatform_names {
    char **list;
    size_t count;
};

struct ssplatform_names ssplatform_tree_list(const struct ssplatform_tree *tree, const char *path);
void ssplatform_names_free(struct ssplatform_names *names);

/* A decimal number and nothing else; NaN otherwise, and for NULL. */
double ssplatform_number(const char *text);

/* Cuts blanks off both ends, in place; NULL if nothing is left or it is no line of text. */
char *ssplatform_trim(char *text);

#endif
