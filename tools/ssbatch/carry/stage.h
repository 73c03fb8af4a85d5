/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_STAGE_H
#define SSBATCH_STAGE_H

#include "batch_values.h"
#include "plan.h"
#include "spawner.h"

#define SSBATCH_BASE_ROOM 80

/* A line of the plan while it is carried out. */
struct ssbatch_act {
    const struct ssbatch_line *line;
    char base[SSBATCH_BASE_ROOM]; /* the path of its files without suffix: BASE/, BASE.stdout,
                                     BASE.stderr */
    char **words;                 /* the words with placeholders replaced; NULL until then; owned */
    bool started, ended;
    bool asked;       /* ssbatch began to end the command */
    bool judged;      /* the output and the record of this `main` have been checked */
    int number;       /* its number at the spawner; -1 if nothing is left of the command */
    pid_t pid;        /* pid of the command */
    int status;       /* status, once the command has ended */
    int ended_by;     /* the signal that ended the command; 0: none */
    ss_time cpu_time; /* CPU time, once nothing is left of the command */
    off_t searched;   /* bytes of its output that do not match its pattern */
    char *found;      /* group 1 of its pattern, or NULL; owned */
};

struct ssbatch_stage;

/*
 * The lines of a run, or those of the study, while they are carried out: first each `before` in
 * order; then each `beside` until it is ready; then adjacent `main`s together. In the end every
 * `beside` gets SIGTERM, in reverse order, and then each `after` runs, whatever happened.
 */
struct ssbatch_stage {
    struct ssbatch_spawner *spawner;
    const struct ssbatch_lines *lines;
    const char *name;              /* name of the run; "study" for the study's lines */
    const char *out;               /* the folder for records and output, which exists */
    const char *scratch;           /* the folder for temporary files, which exists */
    const char *folder;            /* the current folder of commands */
    struct ssbatch_stage *outer;   /* for a run: the study's lines; may be NULL */
    struct ssbatch_values *values; /* receives the values of `once` lines */
    ss_time limit;                 /* how long the stage may take; 0: no limit */

    /* Judges what a `main` recorded, as soon as it has succeeded; may be NULL. */
    int (*judge)(
        const struct ssbatch_stage *stage, const struct ssbatch_act *act, struct ss_error *error);

    /* Private. */
    struct ssbatch_act *acts; /* one for each line */
    ss_time begun;
    int64_t moment;       /* time of {at}; 0: not fixed yet */
    int signal;           /* the signal that interrupted the stage; 0: none */
    struct ss_error left; /* why the first `after` that failed did: something may be left behind */
    struct ss_error why;  /* why the run failed; status 0: it did not fail */
};

/*
 * Prepares the lines. Replaces the placeholders of each `after` now, because it may have to run
 * when nothing else ran. The caller has set the public members. Free the stage even on failure.
 */
SS_MUST_USE SS_NONNULL(1) int ssbatch_stage_open(
    struct ssbatch_stage *stage, struct ss_error *error);

/* Writes the lines of a journal that undo this stage. */
SS_NONNULL() void ssbatch_stage_print_journal(const struct ssbatch_stage *stage, FILE *stream);

/* Carries out every line but `after`s. Returns -1 with the reason in `why`. */
SS_NONNULL() int ssbatch_stage_run(struct ssbatch_stage *stage);

/*
 * Ends running commands and carries out each `after`. Sets `why` only if the run had not failed
 * before.
 */
SS_NONNULL() void ssbatch_stage_end(struct ssbatch_stage *stage);

/* Removes the files with the output of commands that have printed nothing. */
SS_NONNULL() void ssbatch_stage_remove_empty_output(const struct ssbatch_stage *stage);

/* Returns the CPU time that all commands and their descendants have used so far. */
SS_NONNULL() ss_time ssbatch_stage_cpu_time(const struct ssbatch_stage *stage);

SS_NONNULL() void ssbatch_stage_free(struct ssbatch_stage *stage);

/*
 * Carries out one `after` of a journal, in at most SSBATCH_AFTER_LIMIT. `ok` lists the exit
 * statuses that mean success, such as "0,1".
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_carry_after(struct ssbatch_spawner *spawner,
    const struct ssbatch_order *order, const char *ok, struct ss_error *error);

#define SSBATCH_GRACE       (10 * SS_SECOND)
#define SSBATCH_AFTER_LIMIT (120 * SS_SECOND)

#endif
