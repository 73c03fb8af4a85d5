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

extern const char *const ss_kind_names[SS_KINDS];

/*
 * A module in memory. `head` is checked and every optional function of the kind that is left out
 * in the module's own table is filled in `table`, so no caller has to test for NULL.
 */
struct ss_loaded {
    void *handle;
    const struct ss_module *head; /* the head of `table` */
    char path[4096];
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
 * Loads a module by name, or by path when the name holds a '/'. Looked for beside the program
 * (PROGRAM/../lib/showstopper/modules/KIND/NAME.so), where it was installed, and in the folders of
 * SHOWSTOPPER_MODULE_PATH. The message for a name that is not there lists those that are.
 */
int ss_registry_load(
    enum ss_kind kind, const char *name, struct ss_loaded *module, struct ss_error *error);

void ss_registry_unload(struct ss_loaded *module);

/* Writes "KIND/NAME  summary", a line per module that can be found. */
int ss_registry_list(FILE *stream, struct ss_error *error);

/* Everything a module says of itself; `which` is KIND/NAME. */
int ss_registry_help(FILE *stream, const char *which, struct ss_error *error);

#endif
