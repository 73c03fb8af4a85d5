/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_PLANNED_RUN_H
#define SSBATCH_PLANNED_RUN_H

/* Prints a run in which a method holds the load of a workload, as lines of a plan. */

#include <stdio.h>

#include "method.h"
#include "workload.h"

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
SS_NONNULL(1, 2)
int ssbatch_planned_run_print(
    FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error);

#endif
