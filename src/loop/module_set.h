/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_MODULE_SET_H
#define SHOWSTOPPER_LOOP_MODULE_SET_H

#include <showstopper/error.h>
#include <showstopper/host.h>
#include <showstopper/module.h>

#include "loop/board.h"
#include "loop/registry.h"
#include "options/arguments.h"

/* The rows that select a module of one kind and its options. */
#define SS_ARGUMENTS_KIND(config, small, large, name_, kind, initial_, what)                       \
    {small, "NAME",                                                                                \
        {.name = name_,                                                                            \
            .type = SS_OPTION_TEXT,                                                                \
            .initial = initial_,                                                                   \
            .offset = offsetof(config, modules) + sizeof(char *) * (kind),                         \
            .help = "module that " what}},                                                         \
    {                                                                                              \
        large, "OPTS",                                                                             \
            {.name = name_ "-options",                                                             \
                .type = SS_OPTION_TEXT,                                                            \
                .offset = offsetof(config, options) + sizeof(char *) * (kind),                     \
                .help = "options of that module: MAIN,name=value,..."},                            \
            .may_be_empty = true,                                                                  \
    }

/* The default trace, whose main option is the load to hold. */
#define SS_TRACE_DEFAULT "constant"

/*
 * The default control, the default for a feedback that keeps no account of CPU time, and the
 * default for a rate.
 */
#define SS_CONTROL_DEFAULT         "deadbeat"
#define SS_CONTROL_WITHOUT_ACCOUNT "rbpid"
#define SS_CONTROL_FOR_RATE        "served"

/*
 * The rows for --load, all kinds, and --window, for a structure with the fields modules, options
 * and window.
 */
#define SS_ARGUMENTS_MODULES(config)                                                               \
    {                                                                                              \
        'l',                                                                                       \
        "LOAD",                                                                                    \
        {.name = "load",                                                                           \
            .type = SS_OPTION_TEXT,                                                                \
            .offset = offsetof(config, options) + sizeof(char *) * SS_KIND_TRACE,                  \
            .help = "hold this load: short for -t " SS_TRACE_DEFAULT " -T LOAD"},                  \
        .excludes = "trace trace-options",                                                         \
    },                                                                                             \
        SS_ARGUMENTS_KIND(                                                                         \
            config, 't', 'T', "trace", SS_KIND_TRACE, SS_TRACE_DEFAULT, "sets the target"),        \
        SS_ARGUMENTS_KIND(                                                                         \
            config, 'f', 'F', "feedback", SS_KIND_FEEDBACK, "exact", "measures the load"),         \
        SS_ARGUMENTS_KIND(config, 'c', 'C', "control", SS_KIND_CONTROL, NULL,                      \
            "decides how much may run; default: " SS_CONTROL_DEFAULT                               \
            ", or " SS_CONTROL_WITHOUT_ACCOUNT                                                     \
            " for a feedback that keeps no account of CPU time"),                                  \
        SS_ARGUMENTS_KIND(                                                                         \
            config, 's', 'S', "space", SS_KIND_SPACE, "even", "decides which instances run"),      \
        SS_ARGUMENTS_KIND(                                                                         \
            config, 'd', 'D', "dithering", SS_KIND_DITHERING, "stagger", "plans when they run"),   \
    {                                                                                              \
        0, "TIME", {                                                                               \
            .name = "window", .type = SS_OPTION_TIME, .offset = offsetof(config, window),          \
            .initial = "500ms", .min = "50ms", .max = "1min", .sensible = "50ms",                  \
            .help = "the length of the samples over which the load should be even; a shorter "     \
                    "window needs more stops and continues"                                        \
        }                                                                                          \
    }

/* The services that modules may call. */
extern const struct ss_host ss_host;

/* The five modules of a run, loaded and configured. A zero-initialized set is empty. */
struct ss_module_set {
    struct ss_loaded_module modules[SS_KINDS];
    void *configs[SS_KINDS];
    void *prepared[SS_KINDS];
    bool is_prepared[SS_KINDS];
    struct ss_option_store store;
    struct ss_host host; /* a copy of `ss_host` with `load_cpus` */
    double load_cpus;    /* CPUs that make a load of 1, for targets given in CPUs; 0 if unknown. Set
                            this before loading the trace. */
    enum ss_control_output output; /* what control has to decide. Set this before loading it. */
    uint32_t instances; /* set this, `cpus` and `window` before loading the first module */
    uint32_t cpus;
    ss_time window;
};

/*
 * Loads one module and parses its options (NULL for the defaults). Fails if the module cannot work
 * on this machine. If `name` is NULL, loads the default control, which depends on the feedback:
 * load the feedback first.
 */
int ss_module_set_load(struct ss_module_set *set, enum ss_kind kind, const char *name,
    const char *options, struct ss_error *error);

/*
 * Prepares the feedback, which must be loaded, and finds the source that it measures. Call this
 * before loading the other modules: the source decides how many CPUs are a load of 1.
 */
int ss_module_set_prepare_feedback(
    struct ss_module_set *set, struct ss_source_request *request, struct ss_error *error);

/* Prepares the remaining modules, which check and read what they need. */
int ss_module_set_prepare(struct ss_module_set *set, struct ss_error *error);

/*
 * Writes, as a clause, which values a prepared module has chosen for this run; "" if its options
 * say it all.
 */
void ss_module_set_describe(
    const struct ss_module_set *set, enum ss_kind kind, char *buffer, size_t size);

void ss_module_set_release(struct ss_module_set *set);

/* Returns the size of the shared memory that the modules request, in bytes. */
size_t ss_module_set_memory(const struct ss_module_set *set);

/*
 * Fills in the first arguments of the modules' functions for one executor, or for the master, whose
 * index is `instances`. `board` is NULL before the board exists.
 */
void ss_module_set_selves(const struct ss_module_set *set, struct ss_board *board,
    uint32_t executor, struct ss_self selves[SS_KINDS]);

#endif
