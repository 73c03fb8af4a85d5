/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_BATCH_OPTIONS_H
#define SSBATCH_BATCH_OPTIONS_H

#include "options/arguments.h"

struct ssbatch_options {
    const char *only;  /* names separated by commas, or NULL */
    const char *redo;  /* names separated by commas, or NULL */
    char **words;      /* STUDY and PLAN, to which the next two members point */
    const char *study; /* never NULL, except for --help and --version */
    const char *plan;  /* NULL: standard input */
    const char *joblog;
    uint64_t retries;
    uint64_t seed;
    double others;      /* in percent; NaN: no warning */
    double quiet_below; /* in percent; NaN: runs do not wait */
    int shuffles;       /* --shuffle was given */
    int go_on;
    int retries_disturbed;
    int in_memory;
    const char *memory;      /* folder for records while they are written; NULL: in the study */
    const char *trust_owner; /* user whose state is accepted, too */
    int dry_run;
    int list;
    int csv;
    int json;
    int add;
    int clean;
    int quiet;
    int help;
    int version;
    struct ss_option_store store;
};

SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_options_parse(
    struct ssbatch_options *options, char **argv, struct ss_error *error);

void ssbatch_options_print_help(void);

/* Sets `status` to 1 if a run failed, was refused, or cannot start. */
typedef int ssbatch_action(
    const struct ssbatch_options *options, int *status, struct ss_error *error);

ssbatch_action ssbatch_carry_out, ssbatch_list, ssbatch_clean, ssbatch_dry_run;

#endif
