/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_MODULE_SOURCE_H
#define SHOWSTOPPER_LOOP_MODULE_SOURCE_H

/*
 * The source of modules: shared objects in folders (module_files.c), or, in a statically linked
 * program, a table (src/module_builtin.c). A kind is given by its name.
 */

#include <showstopper/error.h>
#include <showstopper/module.h>

#define SS_MODULE_NAMES_MAX 128

struct ss_module_object {
    char path[4096];
    void *handle;
    const struct ss_module *head; /* NULL if no module has the name */
};

/*
 * Lists the modules of one kind, each once, sorted. Returns their number. The caller frees the
 * names.
 */
size_t ss_module_source_list(const char *kind, char *names[SS_MODULE_NAMES_MAX]);

/* Finds a module by name, or by path if the name contains a '/'. A failed open needs no close. */
int ss_module_source_open(
    const char *kind, const char *name, struct ss_module_object *object, struct ss_error *error);

void ss_module_source_close(struct ss_module_object *object);

#endif
