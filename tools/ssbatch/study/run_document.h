/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_RUN_DOCUMENT_H
#define SSBATCH_RUN_DOCUMENT_H

#include "json_document.h"
#include "programs.h"
#include "study_folder.h"

/* The file run.json: the commands that were carried out, and their outcome. */

/* Incremented whenever readers would misread the file. */
#define SSBATCH_RUN_SCHEMA 1

enum ssbatch_status {
    SSBATCH_TO_COME,
    SSBATCH_DONE,
    SSBATCH_FAILED,
    SSBATCH_SKIPPED,
    SSBATCH_STATUSES,
};

const char *ssbatch_status_name(enum ssbatch_status status);

/* A command of the run, after the run. */
struct ssbatch_done_line {
    const struct ssbatch_line *line;
    char *const *words; /* words as carried out; NULL: not carried out */
    const char *record; /* folder of its record, relative to that of the run; NULL: no record */
    int status;         /* -1: not carried out */
};

struct ssbatch_done {
    const struct ssbatch_run *run;
    const char *identity; /* see ssbatch_identity() */
    enum ssbatch_status status;
    const char *reason; /* why the run failed or was skipped; NULL: neither */
    struct ssbatch_done_line *lines;
    size_t line_count;
    int64_t begin, end; /* nanoseconds since 1970 */
    double seconds;
    double others; /* CPU time of other processes, as a fraction of the machine's; NaN: unknown */
    double waited; /* seconds until the machine was quiet, of all attempts; NaN: did not wait */
    uint64_t attempts; /* number of attempts in this call */
};

/* Returns the text of run.json, which the caller frees. */
SS_MUST_USE SS_NONNULL(1, 2, 3) char *ssbatch_run_document_write(const struct ssbatch_study *study,
    const struct ssbatch_done *done, struct ssbatch_programs *programs, struct ss_error *error);

/*
 * Reads run.json of a finished run; free it with json_object_put(). Returns NULL without an error
 * if it does not exist.
 */
SS_NONNULL(1, 2)
struct json_object *ssbatch_run_document_read(
    const struct ssbatch_study *study, const char *name, struct ss_error *error);

/* Returns SSBATCH_TO_COME if `document` is NULL. */
enum ssbatch_status ssbatch_run_document_status(const struct json_object *document);

/* Returns the status of a run, as far as its result says; -1 with the error set. */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_run_status(
    const struct ssbatch_study *study, const char *name, struct ss_error *error);

/*
 * Fails if the document is not of this run with the same programs; `why` says what has changed.
 * Programs that no longer exist are not compared; those that PATH finds may be in another folder.
 */
SS_MUST_USE SS_NONNULL() int ssbatch_run_document_compare(const struct json_object *document,
    const char *identity, const struct ssbatch_run *run, struct ssbatch_programs *programs,
    struct ss_error *why);

#endif
