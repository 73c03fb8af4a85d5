/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_CARRY_RUN_H
#define SSBATCH_CARRY_RUN_H

#include "calls.h"
#include "run_document.h"
#include "stage.h"

/* Everything that the runs of a call share. */
struct ssbatch_session {
    struct ssbatch_study study;
    struct ssbatch_plan plan; /* the plan with all runs that the study keeps */
    struct ssbatch_call call;
    struct ssbatch_spawner spawner;
    struct ssbatch_undoer undoer;
    struct ssbatch_programs programs;
    struct ssbatch_values values;
    struct ssbatch_stage *outer;    /* the study's lines, or NULL */
    char folder[SSBATCH_PATH_SIZE]; /* the current folder */
    const char *redo;               /* names of runs to repeat; see ssbatch_is_listed() */
    const char *memory;             /* where records are written first; NULL: in the study */
};

/* The outcome of an attempt. */
struct ssbatch_attempt {
    /* SSBATCH_PENDING: the attempt was interrupted, or another process carries out the run. */
    enum ssbatch_status status;
    struct ss_error reason;        /* why it failed, or who carries it out */
    struct ss_error undo_error;    /* why an `after` failed, unless that is `reason` */
    struct ss_error removal_error; /* why files of the attempt could not be removed */
    int signal;                    /* the signal that interrupted the attempt; 0: none */
    int exit_status;               /* exit status of the first `main` that failed; 0: none did */
    int ended_by;                  /* the signal that ended it; 0: none */
    double seconds;
    int64_t begin; /* in ns since 1970; 0 if no command was started */
    double others; /* CPU time of other processes, as a fraction of the machine's; NaN: unknown */
    double waited; /* set by the caller: seconds until the machine was quiet; NaN: did not wait */
};

/*
 * Carries out a run, or records that it is skipped, and keeps the result. If an earlier attempt was
 * done (`is_done`), a failure does not replace its result. A failure of the run is not an error.
 */
SS_MUST_USE SS_NONNULL(1, 2, 5) int ssbatch_execute_run(struct ssbatch_session *session,
    const struct ssbatch_run *run, uint64_t number, bool is_done, struct ssbatch_attempt *attempt,
    struct ss_error *error);

/* Writes run.json of an attempt, whose number in this call is `number`, to a folder. */
SS_MUST_USE SS_NONNULL(1, 2, 3, 4, 5) int ssbatch_result_write(struct ssbatch_session *session,
    const char *folder, const struct ssbatch_run *run, const struct ssbatch_stage *stage,
    const struct ssbatch_attempt *attempt, uint64_t number, struct ss_error *error);

/*
 * Writes the journal that undoes a stage and then removes the folder `scratch`, unless that is
 * NULL, after copying the result in it to `result`, unless that is NULL. `name` is the name of the
 * run, or "" for the study's lines.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_write_journal(const struct ssbatch_call *call,
    const char *name, const struct ssbatch_stage *stage, const char *scratch, const char *result,
    struct ss_error *error);

/* Adds the values of `once` lines that the study keeps. */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_values_read(
    struct ssbatch_values *values, const struct ssbatch_study *study, struct ss_error *error);

/*
 * Stores all values in the study. Values that another call has stored in the meantime replace those
 * of this call.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_values_store(
    struct ssbatch_values *values, const struct ssbatch_study *study, struct ss_error *error);

/* A table of attempts with the columns of GNU parallel's --joblog. */
struct ssbatch_joblog {
    FILE *file; /* NULL: --joblog was not given */
    size_t rows;
};

/* Opens the file for appending, with a heading if it is empty. `path` may be NULL. */
SS_MUST_USE SS_NONNULL(1) int ssbatch_joblog_open(
    struct ssbatch_joblog *log, const char *path, struct ss_error *error);

SS_MUST_USE SS_NONNULL(1, 2, 3, 4) int ssbatch_joblog_add(struct ssbatch_joblog *log,
    const struct ssbatch_study *study, const struct ssbatch_run *run,
    const struct ssbatch_attempt *attempt, struct ss_error *error);

#endif
