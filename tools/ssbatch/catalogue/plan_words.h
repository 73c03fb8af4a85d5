/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_PLAN_WORDS_H
#define SSBATCH_PLAN_WORDS_H

/*
 * Options of ssbatch for scripts that print plans: workloads of the catalogue, runs whose load is
 * held by a method, pairs, and option values of the script.
 */

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/error.h>

/* Returns whether the command line, without the program's name, has one of these options. */
SS_NONNULL() bool ssbatch_plan_words_requested(char *const *words);

/*
 * Prints what the command line requests, and sets `status`. Prints an error itself if the command
 * line names another program for messages.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_plan_words_print(
    FILE *stream, char **argv, int *status, struct ss_error *error);

SS_NONNULL() void ssbatch_plan_words_print_help(FILE *stream);

#endif
