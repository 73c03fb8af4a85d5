/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_MODULE_SOURCE_H
#define SHOWSTOPPER_LOOP_MODULE_SOURCE_H

/*
 * The source of modules: shared objects in folders (module_files.c), or, in a statically linked
 * program, a table (module_builtin.c).
 */

#include "loop/registry.h"

#define SS_MODULE_NAMES_MAX 128

/* Lists the modules of one kind, each once, sorted. The caller frees the names. */
size_t ss_module_source_list(enum ss_kind kind, char *names[SS_MODULE_NAMES_MAX]);

/*
 * Finds a module by name, or by path if the name contains a '/', and sets its `path`, its `handle`
 * and `head`. Success with `head` NULL means that no module has this name.
 */
int ss_module_source_open(enum ss_kind kind, const char *name, struct ss_loaded *module,
    const struct ss_module **head, struct ss_error *error);

void ss_module_source_close(struct ss_loaded *module);

#endif
