/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_ACTUATE_OPTIONS_H
#define SSACTUATE_ACTUATE_OPTIONS_H

#include "base/suggest.h"
#include "options/arguments.h"

struct ssactuate_options;

/* A verb of the command line: the words and options that it takes, and its function. */
struct ssactuate_verb {
    const char *name;
    bool takes_words, takes_command, takes_record, takes_policy, takes_check;
    bool changes; /* may change the machine; requires /proc to identify processes */
    int (*action)(const struct ssactuate_options *options, int *status, struct ss_error *error);
};

/* The command line: ssactuate VERB [OPTION]... [WORD]... [-- COMMAND...] */
struct ssactuate_options {
    const struct ssactuate_verb *verb; /* never NULL, except for --help and --version */
    char **words;                      /* words after the verb; ends with NULL */
    char **command;                    /* words after --; ends with NULL; NULL without -- */
    const char *root;
    const char *record;
    const char *policy;
    const char *sides[2];
    size_t side_count;
    const char *control;
    int check;
    int force;
    int help;
    int version;
    struct ss_option_store store;
};

/* Parses argv. `verbs` is a table of struct ssactuate_verb. Free `store` even on failure. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssactuate_options_parse(struct ssactuate_options *options,
    const struct ss_suggest_names *verbs, char **argv, struct ss_error *error);

void ssactuate_options_print_help(void);

#endif
