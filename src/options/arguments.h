/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_OPTIONS_ARGUMENTS_H
#define SHOWSTOPPER_OPTIONS_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/module.h>

#include "options/option.h"

/* One option of a command line: a module option's row, with what a command line adds. */
struct ss_argument {
    char letter;       /* 0: none */
    const char *value; /* what the help calls its value; NULL: a flag, whose field is an int */
    struct ss_option option;
    size_t second; /* where a second value goes as it stands, a const char *; 0: there is none */
    bool may_be_empty; /* an empty text means something; for others it is an error */
};

#define SS_ARGUMENTS_END                                                                           \
    {                                                                                              \
        .option = {.name = NULL }                                                                  \
    }

/*
 * Fills in the defaults and parses the words behind argv[0] up to the first that is no option, or
 * behind `--`; `rest` is what is left from there on. All forms are taken: -n 12, -n12, -qv,
 * --name value, --name=value.
 */
SS_NONNULL(1, 2, 3, 4, 5)
int ss_arguments_parse(const struct ss_argument *rows, void *config, struct ss_option_store *store,
    char **argv, char ***rest, struct ss_error *error);

/* One paragraph to an option, in 80 columns. */
SS_NONNULL() void ss_arguments_print_help(FILE *stream, const struct ss_argument *rows);

#endif
