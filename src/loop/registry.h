/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_REGISTRY_H
#define SHOWSTOPPER_LOOP_REGISTRY_H

#include <stdio.h>

#include <showstopper/control.h>
#include <showstopper/dithering.h>
#include <showstopper/error.h>
#include <showstopper/feedback.h>
#include <showstopper/module.h>
#include <showstopper/space.h>
#include <showstopper/trace.h>

#include "loop/module_source.h"

extern const char *const ss_kind_names[SS_KINDS];

/*
 * A loaded module. `head` is checked, and `table` has defaults for the optional functions that the
 * module leaves out, so no caller has to test for NULL.
 */
struct ss_loaded_module {
    struct ss_module_object object;
    const struct ss_module *head; /* the head of `table` */
    union {
        struct ss_module head;
        struct ss_trace_module trace;
        struct ss_feedback_module feedback;
        struct ss_control_module control;
        struct ss_space_module space;
        struct ss_dithering_module dithering;
    } table;
};

/*
 * Loads a module by name, or by path if the name contains a '/'. Searches next to the program
 * (PROGRAM/../lib/showstopper/modules/KIND/NAME.so), then the installed modules, then the folders
 * of SHOWSTOPPER_MODULE_PATH. If no module has the name, the message lists those that exist.
 */
int ss_registry_load(
    enum ss_kind kind, const char *name, struct ss_loaded_module *module, struct ss_error *error);

void ss_registry_unload(struct ss_loaded_module *module);

/*
 * Prints a line "KIND/NAME  summary" for each module that can be found, or why it cannot be used.
 * Fails if a kind has no module.
 */
int ss_registry_list(FILE *stream, struct ss_error *error);

/* Prints the help of a module; `which` is KIND/NAME. */
int ss_registry_help(FILE *stream, const char *which, struct ss_error *error);

#endif
