/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_ACT_H
#define SSBATCH_ACT_H

/* The lines of a run, or of the study, while they are carried out. */

#include "plan.h"
#include "spawner.h"

/* Values that the commands of `once` lines have printed. */
struct ssbatch_value {
    char *name, *value;
};

struct ssbatch_values {
    struct ssbatch_value *items;
    size_t count, room;
};

#define SSBATCH_BASE_ROOM 80

/* A line of the plan while it is carried out. */
struct ssbatch_act {
    const struct ssbatch_line *line;
    char base[SSBATCH_BASE_ROOM]; /* the path of its files without suffix: BASE/, BASE.stdout,
                                     BASE.stderr */
    char **words;                 /* the words with placeholders replaced; NULL until then; owned */
    bool started, ended;
    bool end_requested; /* ssbatch has asked the command to end */
    bool judged;        /* the output and the record of this `main` have been checked */
    int number;         /* its number at the spawner; -1 before it starts and when it is gone */
    pid_t pid;          /* pid of the command */
    int status;         /* status, once the command has ended */
    int ended_by;       /* the signal that ended the command; 0: none */
    ss_time cpu_time;   /* CPU time, once nothing is left of the command */
    int output;       /* descriptor of its output, if it started and has a pattern, or -1; owned */
    int error_output; /* descriptor of its standard error, if it started, or -1; owned */
    off_t searched;   /* bytes of its output that were searched for its pattern */
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
    const char *out;               /* existing folder for records and output */
    const char *scratch;           /* existing folder for temporary files */
    const char *folder;            /* current folder of the commands */
    struct ssbatch_stage *outer;   /* for a run: the study's lines; may be NULL */
    struct ssbatch_values *values; /* receives the values of `once` lines */
    ss_time limit;                 /* how long the stage may take; 0: no limit */

    /* Judges what a `main` recorded, as soon as it has succeeded; may be NULL. */
    int (*judge)(
        const struct ssbatch_stage *stage, const struct ssbatch_act *act, struct ss_error *error);

    /* Private. */
    struct ssbatch_act *acts; /* one for each line */
    ss_time begun;
    int64_t moment;             /* time of {at}, in ns since 1970; 0: not fixed yet */
    int signal;                 /* the signal that interrupted the stage; 0: none */
    struct ss_error undo_error; /* why the first `after` that failed did so */
    struct ss_error why;        /* why the run failed; status 0: it did not fail */
};

#endif
