/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYSFS_SYS_TREE_H
#define SYSFS_SYS_TREE_H

/*
 * The kernel's files that describe this machine, or copies of another machine's files in a folder.
 * Functions that read them report no errors: what is missing or invalid is unknown (NULL or NaN).
 */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/error.h>

#include "base/cpus.h"

struct sys_tree {
    const char *root; /* NULL: this machine */
    int folder;
};

int sys_tree_open(struct sys_tree *tree, const char *root, struct ss_error *error);
void sys_tree_close(struct sys_tree *tree);

/* Paths are formats, and do not begin with a slash. */
#define SYS_TREE_FORMAT __attribute__((format(printf, 2, 3)))

/* Returns the content of a small file, with a final 0; NULL if unknown. free() the result. */
SYS_TREE_FORMAT char *sys_tree_read(const struct sys_tree *tree, const char *format, ...);

/*
 * Returns the content of a file that grows with the machine, with a final 0; NULL if unknown.
 * free() the result. `length` may be NULL.
 */
char *sys_tree_read_large(const struct sys_tree *tree, const char *path, size_t *length);

/* Returns the only line of a file, trimmed; NULL if unknown or empty. free() the result. */
SYS_TREE_FORMAT char *sys_tree_line(const struct sys_tree *tree, const char *format, ...);

/* Returns the text after a key in its line, trimmed; NULL if unknown. free() the result. */
char *sys_tree_value(const struct sys_tree *tree, const char *path, const char *key);

/* Returns the only line of a file as a number, which may be negative; NaN if it is not a number. */
SYS_TREE_FORMAT double sys_tree_number(const struct sys_tree *tree, const char *format, ...);

/*
 * Reads a descriptor to its end. Returns NULL if that fails or exceeds `limit` bytes. free() the
 * result.
 */
char *sys_tree_read_all(int descriptor, size_t limit, size_t *length);

/* Returns whether the path exists, as a file of any type. */
SYS_TREE_FORMAT bool sys_tree_has(const struct sys_tree *tree, const char *format, ...);

/* Names in a folder, sorted, without hidden ones. `list` is NULL if they are unknown. */
struct sys_tree_names {
    char **list;
    size_t count;
};

struct sys_tree_names sys_tree_list(const struct sys_tree *tree, const char *path);
void sys_tree_names_free(struct sys_tree_names *names);

/* Parses a decimal number. Returns NaN for anything else, and for NULL. */
double sys_tree_parse_number(const char *text);

/* Trims whitespace in place. Returns NULL if nothing is left or `text` has a control character. */
char *sys_tree_trim(char *text);

/* Returns the online CPUs; empty if unknown. */
struct ss_cpus sys_tree_online(const struct sys_tree *tree);

/*
 * Returns the list of CPUs that this process and its children may use, such as "0-3,8"; NULL if
 * unknown. free() the result.
 */
char *sys_tree_affinity(const struct sys_tree *tree);

#endif
