/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_MODULE_SET_H
#define SHOWSTOPPER_LOOP_MODULE_SET_H

#include <showstopper/error.h>
#include <showstopper/module.h>

#include "loop/board.h"
#include "loop/registry.h"
#include "options/arguments.h"

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

/* Those of all kinds, with the defaults, and what they are to reach, for a structure with the
 * fields modules, options and window. */
#define SS_ARGUMENTS_MODULES(config)                                                               \
    SS_ARGUMENTS_KIND(                                                                             \
        config, 't', 'T', "trace", SS_KIND_TRACE, "constant", "what load is wanted"),              \
        SS_ARGUMENTS_KIND(                                                                         \
            config, 'f', 'F', "feedback", SS_KIND_FEEDBACK, "exact", "what the load is"),          \
        SS_ARGUMENTS_KIND(config, 'c', 'C', "control", SS_KIND_CONTROL, NULL,                      \
            "how much may run; without it, " SS_CONTROL_DEFAULT ", or " SS_CONTROL_WITHOUT_ACCOUNT \
            " for a feedback that keeps no account of CPU time"),                                  \
        SS_ARGUMENTS_KIND(                                                                         \
            config, 's', 'S', "space", SS_KIND_SPACE, "even", "which instances run"),              \
        SS_ARGUMENTS_KIND(                                                                         \
            config, 'd', 'D', "dithering", SS_KIND_DITHERING, "stagger", "when they run"),         \
    {                                                                                              \
        0, "TIME", {                                                                               \
            .name = "window", .type = SS_OPTION_TIME, .offset = offsetof(config, window),          \
            .initial = "500m", .min = "50m", .max = "1M", .sensible = "50m",                       \
            .help = "the length of the samples in which the load is to be even: a shorter one "    \
                    "needs more stops and continues"                                               \
        }                                                                                          \
    }

/* The five modules of a run, loaded and configured. Zeroed: an empty one. */
struct ss_module_set {
    struct ss_loaded modules[SS_KINDS];
    void *configs[SS_KINDS];
    void *prepared[SS_KINDS];
    bool is_prepared[SS_KINDS];
    struct ss_option_store store;
    struct ss_host host; /* what prepared modules see of the program */
    double load_cpus;    /* CPUs that make a load of 1, which targets may be given in; 0: unknown.
                            To be set before the trace is loaded */
    uint32_t instances;  /* to be set, as `cpus` and `window`, before the first module is loaded */
    uint32_t cpus;
    ss_time window;
};

/*
 * Loads one module and parses its options (NULL: the defaults). Without a name it is the default
 * control, which depends on the feedback: that is to be loaded before.
 */
int ss_module_set_load(struct ss_module_set *set, enum ss_kind kind, const char *name,
    const char *options, struct ss_error *error);

/*
 * Prepares the feedback, which is loaded, and asks it what it measures: what a load of 1 is, is
 * known before the other modules are loaded.
 */
int ss_module_set_ask_source(
    struct ss_module_set *set, struct ss_source_request *request, struct ss_error *error);

/* Lets all modules that are not prepared yet check and read what they need. */
int ss_module_set_prepare(struct ss_module_set *set, struct ss_error *error);

/* What a prepared module has found for this run, as a clause; "" where its options say it all. */
void ss_module_set_describe(
    const struct ss_module_set *set, enum ss_kind kind, char *buffer, size_t size);

void ss_module_set_release(struct ss_module_set *set);

/* Shared memory that the modules want, in bytes. */
size_t ss_module_set_memory(const struct ss_module_set *set);

/*
 * Fills in what the modules' functions are given for one executor, or for the master: its index
 * is `instances`. `board` is NULL as long as there is none.
 */
void ss_module_set_selves(const struct ss_module_set *set, struct ss_board *board,
    uint32_t executor, struct ss_self selves[SS_KINDS]);

#endif
