/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_PROGRAM_H
#define SHOWSTOPPER_BASE_PROGRAM_H

#include <showstopper/error.h>

/*
 * The body of a program. It returns 0, with the exit status
 * in `status` if that is not 0, or sets the error, whose status is then that of the program.
 */
typedef int ss_program(char **argv, int *status, struct ss_error *error);

/*
 * Runs it with standard streams that are open, flushes standard output, and prints "NAME: message"
 * if there is an error. Returns the exit status.
 */
int ss_program_main(const char *name, ss_program *program, char **argv) SS_NONNULL();

/* Prints "NAME version". */
void ss_program_print_version(const char *name) SS_NONNULL();

#endif
