/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_CLI_H
#define SHOWSTOPPER_COMMAND_CLI_H

#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/module.h>

#include "options/values.h"
#include "screen/progress.h"

#define SS_LABELS_MAX      64
#define SS_LABEL_NAME_MAX  64   /* characters, without the null */
#define SS_LABEL_VALUE_MAX 1024 /* bytes, without the null */

/* A user's note about a run, kept in its record. */
struct ss_label {
    const char *name;
    const char *value;
};

struct ss_labels {
    struct ss_label items[SS_LABELS_MAX];
    size_t count;
};

/* The parsed command line. */
struct ss_cli {
    uint64_t instances; /* 0 if not given */
    const char *modules[SS_KINDS];
    const char *options[SS_KINDS]; /* NULL if not given */
    ss_time window;
    const char *workloads;
    const char *placeholder;
    const char *cpus;
    ss_time warmup;
    ss_time settle;
    ss_time duration; /* SS_TIME_NEVER if not given */
    const char *start_at;
    const char *iteration;
    const char *output;
    int tty;
    const char *json;
    const char *record;
    enum { SS_DECISIONS_ALL, SS_DECISIONS_NONE } decisions;
    struct ss_labels labels;
    const char *replay;
    const char *trust_owner; /* only showstopper-replay uses it */
    int progress;            /* enum ss_progress_when */
    ss_time grace;
    double tolerance_percent; /* in percent; NaN if off */
    const char *set_pid;
    const char *set_load;
    const char *status_pid;
    const char *metrics;
    const char *help_module;
    int fail_fast;
    int repeat;
    int isolate;
    const char *attach;
    const char *attach_name;
    const char *attach_group;
    const char *beside;
    int end;
    int keep;
    int counters;
    int force;
    int quiet;
    int verbose;
    int dry_run;
    int list_modules;
    int help;
    int version;
    char **arguments; /* all words; the first is the program's name */
    char **command;   /* the words after the options, ending with NULL; points into argv */
    struct ss_option_store store;
};

SS_MUST_USE int ss_cli_parse(struct ss_cli *cli, char **argv, struct ss_error *error);
void ss_cli_free(struct ss_cli *cli);
void ss_cli_help(FILE *stream);

#endif
