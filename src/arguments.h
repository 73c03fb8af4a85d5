/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_ARGUMENTS_H
#define SHOWSTOPPER_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/module.h>

#include "option.h"

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

/* The rows that name a module of one kind and its options. */
#define SS_ARGUMENTS_KIND(config, small, large, name_, kind, initial_, what)                       \
    {small, "NAME",                                                                                \
        {.name = name_,                                                                            \
            .type = SS_OPTION_TEXT,                                                                \
            .initial = initial_,                                                                   \
            .offset = offsetof(config, modules) + sizeof(char *) * (kind),                         \
            .help = "module that says " what}},                                                    \
    {                                                                                              \
        large, "OPTS",                                                                             \
            {.name = name_ "-options",                                                             \
                .type = SS_OPTION_TEXT,                                                            \
                .offset = offsetof(config, options) + sizeof(char *) * (kind),                     \
                .help = "its options: MAIN,name=value,..."},                                       \
            .may_be_empty = true,                                                                  \
    }

/* The default control, and that for a feedback which keeps no account of CPU time. */
#define SS_CONTROL_DEFAULT         "deadbeat"
#define SS_CONTROL_WITHOUT_ACCOUNT "rbpid"

/* Those of all kinds, with the defaults, for a structure with the fields modules and options. */
#define SS_ARGUMENTS_MODULES(config)                                                               \
    SS_ARGUMENTS_KIND(                                                                             \
        config, 't', 'T', "trace", SS_KIND_TRACE, "constant", "what load is wanted"),              \
        SS_ARGUMENTS_KIND(                                                                         \
            config, 'f', 'F', "feedback", SS_KIND_FEEDBACK, "exact", "what the load is"),          \
        SS_ARGUMENTS_KIND(config, 'c', 'C', "control", SS_KIND_CONTROL, NULL,                      \
            "how much may run; without it, " SS_CONTROL_DEFAULT ", or " SS_CONTROL_WITHOUT_ACCOUNT \
            " for a feedback that keeps no account of CPU time"),                                  \
        SS_ARGUMENTS_KIND(config, 's', 'S', "space", SS_KIND_SPACE, "even", "who runs"),           \
        SS_ARGUMENTS_KIND(config, 'd', 'D', "dithering", SS_KIND_DITHERING, "stagger", "when")

/*
 * Fills in the defaults and parses the words behind argv[0] up to the first that is no option, or
 * behind `--`; `rest` is what is left from there on. All forms are taken: -n 12, -n12, -qv,
 * --name value, --name=value.
 */
int ss_arguments_parse(const struct ss_argument *rows, void *config, struct ss_option_store *store,
    char **argv, char ***rest, struct ss_error *error);

/* One paragraph to an option, in 80 columns. */
void ss_arguments_print_help(FILE *stream, const struct ss_argument *rows);

#endif
