/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_OPTIONS_ARGUMENTS_H
#define SHOWSTOPPER_OPTIONS_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/module.h>

#include "options/values.h"

struct ss_argument;

/*
 * Stores the value of an option (NULL for a flag), or a word that is not an option. Returns 0, or
 * -1 with `error` set. The text points into argv. The parser prefixes the message of an error with
 * the name of the option.
 */
typedef int ss_argument_taker(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error);

/*
 * One option of a command line: the row of a module option, plus what a command line adds.
 *
 * The last three fields are lists of long names, separated by spaces, which state how options of
 * the command line belong together:
 *
 *     {0, NULL, {"force", AT(force), ...}, .needs = "record"},
 *     {0, "PID", {"attach", ...}, .excludes = "instances workloads COMMAND"},
 *     {0, "PID", {"status", ...}, .only_with = "openmetrics"},
 *
 * A name in capitals means the words that are not options. What is written on the command line
 * counts, even if it equals the default, so an option with a default may exclude another one. One
 * of the two options names the other. With --help or --version nothing is checked.
 */
struct ss_argument {
    char letter;       /* 0 for no short form */
    const char *value; /* name of the value in the help; NULL for a flag, stored in an int */
    struct ss_option option;
    size_t second;     /* offset of a const char * for a second, unparsed value; 0 if absent */
    bool may_be_empty; /* an empty text is valid */
    ss_argument_taker *take; /* called for each occurrence; NULL sets the field */
    const char *heading;     /* printed above the option in the help, or NULL */
    const char *needs;       /* one of these must also be given; NULL for no condition */
    const char *excludes;    /* none of these may be given; NULL for no condition */
    const char *only_with;   /* only these options may also be given; "" for none, NULL for any */
};

/* The type and the offset of an option that sets a uint64_t. */
#define SS_OPTION_COUNT_AT(container, member)                                                      \
    SS_OPTION_COUNT, .offset = SS_OPTION_OFFSET(SS_OPTION_COUNT, container, member)

/* The rows of --help and --version, which set the members `help` and `version`. */
// clang-format off
#define SS_ARGUMENTS_HELP_AT(container)                                                            \
    {'h', NULL, {"help", .offset = offsetof(container, help), .help = "print this help"}},         \
    {0, NULL, {"version", .offset = offsetof(container, version), .help = "print the version"}}
// clang-format on

#define SS_ARGUMENTS_END                                                                           \
    {                                                                                              \
        .option = {.name = NULL }                                                                  \
    }

/* Ends a list of rows; `taker` gets the words that are not options. */
#define SS_ARGUMENTS_WORDS(taker)                                                                  \
    { .take = (taker) }

/*
 * Ends a list of rows; `member`, a char ** that is not the first member, gets these words as a list
 * of at most `limit` words.
 */
#define SS_ARGUMENTS_WORDS_AT(container, member, limit)                                            \
    { .option.offset = (limit), .second = offsetof(container, member) }

/*
 * Sets the defaults, parses the words after argv[0], and checks which options belong together.
 * Options may be written -n 12, -n12, -qv, --name value or --name=value.
 *
 * If the rows end with a taker or a list, that gets all words that are not options, which may be
 * anywhere, and every word after `--`. A list ends with NULL and overwrites argv from argv[1] on.
 * With a list and `rest`, `--` ends the list, and `rest` points to the words after it, or is NULL
 * without `--`.
 *
 * Without a taker or a list, the first word that is not an option, or `--`, ends the options, and
 * `rest` points to the words that follow. If `rest` is NULL, such words are refused.
 */
SS_NONNULL(1, 2, 4)
int ss_arguments_parse(const struct ss_argument *rows, void *config, struct ss_option_store *store,
    char **argv, char ***rest, struct ss_error *error);

/* Prints one paragraph per option, in 80 columns. */
SS_NONNULL() void ss_arguments_print_help(FILE *stream, const struct ss_argument *rows);

#endif
