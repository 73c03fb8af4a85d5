/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

#include <showstopper/error.h>

/*
 * The body of a program. Returns 0 and may set the exit status in `status`; or returns -1 and sets
 * the error, whose status becomes the exit status.
 */
typedef int ss_program(char **argv, int *status, struct ss_error *error);

/*
 * Runs the body: opens missing standard streams, no longer ignores SIGCHLD, refuses raised rights,
 * flushes standard output at the end, and prints "NAME: message" for an error of the body and for
 * lost output. Returns the exit status.
 */
int ss_program_main(const char *name, ss_program *program, char **argv) SS_NONNULL();

void ss_program_print_version(const char *name) SS_NONNULL();

#endif
