/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_ANTAGONIST_OPTIONS_H
#define SSANTAGONIST_ANTAGONIST_OPTIONS_H

#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "options/arguments.h"
#include "watch.h"

enum antagonist_command {
    ANTAGONIST_PLAN,
    ANTAGONIST_ANSWER,
    ANTAGONIST_WATCH,
    ANTAGONIST_CODES,
    ANTAGONIST_SUSPECTS,
    ANTAGONIST_NONE, /* --help or --version alone */
};

struct antagonist_options {
    enum antagonist_command command;
    struct ss_option_store store;
    const char *folder; /* folder of the study or, for watch and codes, of a run's results */
    const char *suspects, *group, *names, *victim_pids;
    const char *victim, *iteration, *start_at, *shifts, *page;
    double depth, rate, usual;
    uint64_t seed, slots;
    ss_time slot, tau;
    int lower, json, help, version;
};

/* Parses COMMAND OPTION... FOLDER. */
SS_MUST_USE SS_NONNULL() int antagonist_options_parse(
    struct antagonist_options *options, char **argv, struct ss_error *error);

SS_NONNULL() void antagonist_options_print_help(const struct antagonist_options *options);

/* Returns what `watch` needs, except its output and start. */
SS_NONNULL()
struct watch_options antagonist_options_victim(const struct antagonist_options *options);

#endif
