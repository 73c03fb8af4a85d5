/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_RUN_DOCUMENT_H
#define SSBATCH_RUN_DOCUMENT_H

#include "json_document.h"
#include "programs.h"
#include "study_folder.h"

/* The file run.json: the commands that were carried out, and their outcome. */

/* Increased when readers would misread the file. */
#define SSBATCH_RUN_SCHEMA 1

enum ssbatch_status {
    SSBATCH_TO_COME,
    SSBATCH_DONE,
    SSBATCH_FAILED,
    SSBATCH_SKIPPED,
    SSBATCH_STATUSES,
};

const char *ssbatch_status_name(enum ssbatch_status status);

/* A command of the run. */
struct ssbatch_done_line {
    const struct ssbatch_line *line;
    char *const *words; /* as carried out; NULL: it was not */
    const char *record; /* its folder in that of the run, if it has a record; NULL: none */
    int status;         /* -1: it was not carried out */
};

struct ssbatch_done {
    const struct ssbatch_run *run;
    const char *identity; /* see ssbatch_identity() */
    enum ssbatch_status status;
    const char *reason; /* why it failed or was skipped; NULL: neither */
    struct ssbatch_done_line *lines;
    size_t line_count;
    int64_t begin, end; /* nanoseconds since 1970 */
    double seconds;
    double others;     /* CPU time of other processes, as a part of the machine; NaN: unknown */
    uint64_t attempts; /* in this call */
};

/* Returns the text of run.json, to be freed. */
SS_MUST_USE SS_NONNULL(1, 2, 3) char *ssbatch_run_document_write(const struct ssbatch_study *study,
    const struct ssbatch_done *done, struct ssbatch_programs *programs, struct ss_error *error);

/*
 * Reads run.json of a run that is finished: json_object_put() frees it. Returns NULL without an
 * error if it does not exist.
 */
SS_NONNULL(1, 2)
struct json_object *ssbatch_run_document_read(
    const struct ssbatch_study *study, const char *name, struct ss_error *error);

/* Returns the status of the run, SSBATCH_TO_COME for NULL. */
enum ssbatch_status ssbatch_run_document_status(const struct json_object *document);

/*
 * Returns whether the document is of this run with the same programs. Otherwise writes to `why`
 * what has changed. Programs that are no longer there are not compared.
 */
SS_MUST_USE SS_NONNULL() bool ssbatch_run_document_fits(const struct json_object *document,
    const char *identity, const struct ssbatch_run *run, struct ssbatch_programs *programs,
    char why[300]);

#endif
