/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_ITEMS_H
#define SSSIM_ITEMS_H

#include <stddef.h>

#include <showstopper/error.h>

/*
 * Splits a list at its commas; as in the options of a module, a backslash escapes a comma. There
 * is always one item at least. The items and the list, which ends with NULL, are one block: free()
 * it. NULL when memory is short.
 */
char **items_split(const char *text, size_t *count, struct ss_error *error);

#endif
