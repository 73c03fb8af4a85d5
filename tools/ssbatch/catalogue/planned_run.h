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
    const char *name;     /* of the run; NULL: only the line of showstopper is printed */
    const char *takes;    /* the time it takes; not NULL with a name */
    const char *round;    /* number of the round; NULL: no such column */
    const char *lines;    /* further lines of the run; NULL: none */
    const char *tools;    /* the folder with env/group, for methods with a control group */
    const char *pinned;   /* CPUs of --cpus; NULL: all */
    const char *around;   /* quoted words before showstopper; NULL: none */
    const char *entering; /* quoted words before the command; NULL: none */
    bool counters;        /* showstopper records counters */
    char *const
        *columns; /* KEY=VALUE, up to a NULL or `--`; `--` and options of showstopper follow */
};

/*
 * Writes the run or, without a name, one line `main` with the role. In the name, in columns and in
 * options, {instances}, {stands_for} and {target} are replaced. Columns without a value are left
 * out.
 */
SS_NONNULL(1, 2)
int ssbatch_planned_run_print(
    FILE *stream, const struct ssbatch_planned_run *run, struct ss_error *error);

#endif
