/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_OPTIONS_H
#define SSACTUATE_OPTIONS_H

#include "options/arguments.h"

/* The command line: ssactuate VERB [OPTION]... [WORD]... [-- COMMAND...] */
struct ssactuate_options {
    const char *verb;   /* never NULL, except for --help and --version */
    const char **words; /* the words after the verb, ended by NULL */
    size_t word_count;
    char **command; /* the words after --, ended by NULL; NULL: no -- */
    const char *root;
    const char *record;
    const char *policy;
    const char *side;
    int force;
    int json;
    int help;
    int version;
    struct ss_option_store store;
};

SS_MUST_USE SS_NONNULL(1, 2) int ssactuate_options_parse(
    struct ssactuate_options *options, char **argv, struct ss_error *error);
SS_NONNULL() void ssactuate_options_free(struct ssactuate_options *options);

void ssactuate_options_print_help(void);

#endif
