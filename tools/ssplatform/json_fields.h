/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLATFORM_FIELDS_H
#define SSPLATFORM_FIELDS_H

/* Single fields of a report, read from files of the tree. What is not known becomes null. */

#include "base/json.h"
#include "sys_tree.h"

/* Writes what one file says. */
void ssplatform_put_line(
    struct ss_json *json, const char *name, const struct ssplatform_tree *tree, const char *path);

/* "on" for 1, "off" for 0. */
void ssplatform_put_switch(struct ss_json *json, const char *name, double number);

/* Opens a list; false: wrote null instead, and there is nothing to close. */
bool ssplatform_open_list(struct ss_json *json, const char *name, bool known);

/* A file's words as a list. */
void ssplatform_put_words(
    struct ss_json *json, const char *name, const struct ssplatform_tree *tree, const char *path);

/* The number behind "MemTotal:" in a file, in bytes. */
double ssplatform_memory(const struct ssplatform_tree *tree, const char *path);

#endif
