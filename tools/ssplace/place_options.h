/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPLACE_PLACE_OPTIONS_H
#define SSPLACE_PLACE_OPTIONS_H

#include "options/arguments.h"
#include "platform/platform.h"

struct ssplace_options {
    const char *root;
    const char *cpu_list;
    double quota; /* NaN: not given */
    int instance, help, version;

    const char *verb;
    char **words; /* after the verb */
    size_t word_count;
    char **command; /* after --; NULL: not given */

    struct ss_cpus cpus;
    struct ss_platform_roots roots;
    char proc[700], cgroup[700];
    struct ss_option_store store;
};

/* Parses and checks the command line. Free the options even if this fails. */
SS_MUST_USE SS_NONNULL() int ssplace_options_parse(
    struct ssplace_options *options, char **argv, struct ss_error *error);
void ssplace_options_print_help(void);

#endif
