/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_PLANNED_RUN_H
#define SSBATCH_PLANNED_RUN_H

/*
 * Prints a run in which a method holds the load of a workload, as lines of a plan. Methods are
 * options of showstopper; accuracy --help describes them.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "workload.h"

/* The number of instances. */
enum ssbatch_copies {
    SSBATCH_COPIES_GIVEN,
    SSBATCH_COPIES_ONE,
    SSBATCH_COPIES_WHOLE,    /* the load times the number of CPUs, rounded */
    SSBATCH_COPIES_MEASURED, /* the load divided by the load of one instance */
};

/* Limits on the instances other than showstopper's. */
enum ssbatch_limiter {
    SSBATCH_LIMITER_NONE,
    SSBATCH_LIMITER_CPULIMIT, /* one cpulimit for each instance */
    SSBATCH_LIMITER_GROUP,    /* a control group with a quota for all instances */
};

struct ssbatch_method {
    const char *name;
    const char *feedback; /* options of showstopper */
    const char *modules;  /* likewise; words in braces are members of struct ssbatch_control */
    enum ssbatch_copies copies;
    enum ssbatch_limiter limiter;
};

/* The parameters of a method. */
struct ssbatch_control {
    const struct ssbatch_method *method;
    const char *tau; /* mean length of a round; NULL if the method has none */
    /* Further options of the dithering of a constant duty and of three modules; NULL: none. */
    const char *cdc, *pi, *geom, *realtime;
    const char *feedback; /* replaces the feedback of the method; NULL: keeps it */
    double target;        /* the load, from 0 to 1 */
    uint64_t cpus;        /* number of CPUs that together are a load of 1 */
    uint64_t instances;   /* unless the method sets the number */
    double one;           /* load of one instance, above 0, if the number depends on it */
};

/* Returns the method of this name. If unknown, returns NULL and sets the error. */
SS_MUST_USE SS_NONNULL(1) const
    struct ssbatch_method *ssbatch_method_find(const char *name, struct ss_error *error);

/* Returns whether the method requires `tau`. */
SS_NONNULL() bool ssbatch_method_has_rounds(const struct ssbatch_method *method);

/* Returns the number of instances, at least 1. */
SS_NONNULL() uint64_t ssbatch_control_instances(const struct ssbatch_control *control);

/* Returns the load that uncontrolled instances represent; NaN if showstopper controls the load. */
SS_NONNULL() double ssbatch_control_stands_for(const struct ssbatch_control *control);

/* Writes the options of feedback and other modules, each preceded by a blank. */
SS_NONNULL() void ssbatch_control_print(FILE *stream, const struct ssbatch_control *control);

/* A placeholder in braces, and the text that replaces it, after `before`; NULL: nothing. */
struct ssbatch_part {
    const char *name, *before, *text;
};

/* Writes a text with these placeholders replaced. Keeps `{{`. */
SS_NONNULL()
void ssbatch_put_parts(
    FILE *stream, const char *text, const struct ssbatch_part *parts, size_t count);

struct ssbatch_planned_run {
    const struct ssbatch_workload *workload;
    const struct ssbatch_use *use;
    const struct ssbatch_control *control;
    const char *name;     /* of the run; NULL: print the line of showstopper only */
    const char *takes;    /* duration of the run; required with a name */
    const char *round;    /* number of the round; NULL: no column */
    const char *lines;    /* more lines of the run; NULL: none */
    const char *tools;    /* the folder that has env/group, for methods with a control group */
    const char *pinned;   /* CPUs of --cpus; NULL: all */
    const char *around;   /* quoted words before showstopper; NULL: none */
    const char *entering; /* quoted words before the command; NULL: none */
    bool counters;        /* --counters */
    char *const
        *columns; /* KEY=VALUE, up to a NULL or `--`; `--` and options of showstopper follow */
};

/*
 * Writes the run; without a name, writes a single line `main` with the role. Replaces {instances},
 * {stands_for} and {target} in the name, in columns and in options. Skips columns without a value.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_planned_run_print(
    FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error);

#endif
