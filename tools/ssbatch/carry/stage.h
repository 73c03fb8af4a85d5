/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_STAGE_H
#define SSBATCH_STAGE_H

#include "batch_values.h"
#include "plan.h"
#include "spawner.h"

#define SSBATCH_BASE_ROOM 80

/* A line of the plan that is carried out. */
struct ssbatch_act {
    const struct ssbatch_line *line;
    char base[SSBATCH_BASE_ROOM]; /* of its files: BASE/, BASE.stdout, BASE.stderr */
    char **words;                 /* with placeholders replaced; NULL until then; owned */
    bool started, ended;
    bool asked;       /* to end */
    int number;       /* the spawner's; -1 if nothing is left of it */
    pid_t pid;        /* of the command */
    int status;       /* once ended */
    ss_time cpu_time; /* once nothing is left */
    char *found;      /* group 1 of its pattern, or NULL; owned */
};

/*
 * The lines of a run, or those of the study, while they are carried out: `before`s in order;
 * `beside`s until they are ready; adjacent `main`s together. In the end `beside`s get SIGTERM in
 * reverse order, and then the `after`s run, whatever happened.
 */
struct ssbatch_stage {
    struct ssbatch_spawner *spawner;
    const struct ssbatch_lines *lines;
    const char *name;              /* of the run; "study" */
    const char *out;               /* the folder for records and output, which exists */
    const char *scratch;           /* the folder for temporary files, which exists */
    const char *folder;            /* the current folder of commands */
    struct ssbatch_stage *outer;   /* the study's lines, for a run; may be NULL */
    struct ssbatch_values *values; /* those of `once` are added */
    ss_time limit;                 /* how long it may take; 0: no limit */

    /* Private. */
    struct ssbatch_act *acts; /* for each line */
    ss_time begun;
    int64_t moment;      /* of {at}; 0: not fixed yet */
    int signal;          /* interrupted by this one */
    bool left;           /* an `after` failed, so something may be left */
    struct ss_error why; /* why the run failed; status 0: it did not */
};

/*
 * Prepares the lines and replaces the placeholders of `after`s, which must be known before the
 * run. The caller has set the first members. Free it in either case.
 */
SS_MUST_USE SS_NONNULL(1) int ssbatch_stage_open(
    struct ssbatch_stage *stage, struct ss_error *error);

/* Writes the journal that undoes this stage: its `after`s. */
SS_NONNULL() void ssbatch_stage_print_journal(const struct ssbatch_stage *stage, FILE *stream);

/* Carries out everything but `after`s. Returns -1 with the reason in `why`. */
SS_MUST_USE SS_NONNULL() int ssbatch_stage_run(struct ssbatch_stage *stage);

/* Ends running commands and carries out the `after`s. Sets `why` if only that fails. */
SS_NONNULL() void ssbatch_stage_end(struct ssbatch_stage *stage);

/* Returns the CPU time of all commands that are gone. */
SS_NONNULL() ss_time ssbatch_stage_cpu_time(const struct ssbatch_stage *stage);

SS_NONNULL() void ssbatch_stage_free(struct ssbatch_stage *stage);

/*
 * Carries out one command for its effect, in at most SSBATCH_AFTER_LIMIT: for the `after`s of a
 * journal.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_carry_after(
    struct ssbatch_spawner *spawner, const struct ssbatch_order *order, struct ss_error *error);

#define SSBATCH_GRACE       (10 * SS_SECOND)
#define SSBATCH_AFTER_LIMIT (120 * SS_SECOND)

#endif
