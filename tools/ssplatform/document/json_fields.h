/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_JSON_FIELDS_H
#define SSPLATFORM_JSON_FIELDS_H

/* Writes single fields of a report, read from files of the tree. Unknown values become null. */

#include "base/json.h"
#include "sys_tree.h"

/* Writes the content of a file that has a single line. */
void ssplatform_put_line(
    struct ss_json *json, const char *name, const struct sys_tree *tree, const char *path);

/* Writes "on" for 1, "off" for 0, otherwise null. */
void ssplatform_put_switch(struct ss_json *json, const char *name, double number);

/* Opens a list and returns true, or writes null and returns false if the list is unknown. */
bool ssplatform_open_list(struct ss_json *json, const char *name, bool known);

/* Writes the words of a file as a list. */
void ssplatform_put_words(
    struct ss_json *json, const char *name, const struct sys_tree *tree, const char *path);

/* Returns the value of "MemTotal:" in a file, in bytes; NaN if unknown. */
double ssplatform_memory(const struct sys_tree *tree, const char *path);

#endif
