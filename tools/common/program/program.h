/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

#include <stdbool.h>

#include <showstopper/error.h>

#include "options/values.h"

/*
 * The body of a program. Returns 0 and may set the exit status in `status`. On failure returns -1
 * and sets the error, whose status becomes the exit status.
 */
typedef int ss_program(char **argv, int *status, struct ss_error *error);

/*
 * Runs the body. Before that, prepares ss_platform_set_name(), opens missing standard streams,
 * removes empty entries from PATH, resets SIGCHLD, and refuses to run with set-uid or similar
 * privileges. Afterwards flushes standard output, and prints "NAME: message" for an error of the
 * body and for lost output. Returns the exit status.
 */
int ss_program_main(const char *name, ss_program *program, int argc, char **argv) SS_NONNULL();

/*
 * Prints the warnings of `store`, unless it is NULL, to standard error, and the help or the version
 * if requested. Returns whether it printed one of these two.
 */
SS_MUST_USE SS_NONNULL(1, 5) bool ss_program_print_requested(const char *name,
    const struct ss_option_store *store, int help, int version, void (*print_help)(void));

void ss_program_print_version(const char *name) SS_NONNULL();

#endif
