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
    SSBATCH_PENDING,
    SSBATCH_DONE,
    SSBATCH_FAILED,
    SSBATCH_SKIPPED,
    SSBATCH_STATUSES,
};

const char *ssbatch_status_name(enum ssbatch_status status);

/*
 * Reads run.json of a finished run; free it with json_object_put(). Returns NULL without an error
 * if it does not exist.
 */
SS_MUST_USE SS_NONNULL(1, 2) struct json_object *ssbatch_run_document_read(
    const struct ssbatch_study *study, const char *name, struct ss_error *error);

/* Returns SSBATCH_PENDING if `document` is NULL. */
enum ssbatch_status ssbatch_run_document_status(const struct json_object *document);

/* Returns the status in a run.json, SSBATCH_PENDING if that is absent, or -1 with the error set. */
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
