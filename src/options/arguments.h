/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_OPTIONS_ARGUMENTS_H
#define SHOWSTOPPER_OPTIONS_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/module.h>

#include "options/option.h"

struct ss_argument;

/*
 * Takes the value of an option (NULL: it is a flag), or a word that is not an option. Both point
 * into argv. The parser puts the name of the option before the message of an error.
 */
typedef int ss_argument_taker(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error);

/* One option of a command line: a module option's row, with what a command line adds. */
struct ss_argument {
    char letter;       /* 0: none */
    const char *value; /* its name for the value in the help; NULL: a flag, stored in an int */
    struct ss_option option;
    size_t second;           /* where a second value goes unparsed, a const char *; 0 without one */
    bool may_be_empty;       /* an empty text means something; for others it is an error */
    ss_argument_taker *take; /* called each time it is given; NULL: the field is set */
    const char *heading;     /* printed above it in the help; NULL: none */
};

#define SS_ARGUMENTS_END                                                                           \
    {                                                                                              \
        .option = {.name = NULL }                                                                  \
    }

/* Ends a list of rows; `taker` gets the words that are not options. */
#define SS_ARGUMENTS_WORDS(taker)                                                                  \
    { .take = (taker) }

/*
 * Fills in the defaults and parses the words behind argv[0]. All forms are taken: -n 12, -n12, -qv,
 * --name value, --name=value. The taker at the end of the rows gets all words that are not options,
 * which may stand anywhere; every word behind `--` is one. Without a taker, the first such word or
 * `--` ends the options, and `rest` is what follows them; if it is NULL, nothing may
 * left.
 */
SS_NONNULL(1, 2, 4)
int ss_arguments_parse(const struct ss_argument *rows, void *config, struct ss_option_store *store,
    char **argv, char ***rest, struct ss_error *error);

/* One paragraph to an option, in 80 columns. */
SS_NONNULL() void ss_arguments_print_help(FILE *stream, const struct ss_argument *rows);

#endif
