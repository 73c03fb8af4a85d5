/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_LOAD_INPUTS_H
#define SSREPORT_LOAD_INPUTS_H

#include "fields.h"
#include "report.h"

/*
 * Adds the contents of a folder: a record; a study of ssbatch or one of its runs; a fleet; or an
 * experiment, which is a folder with records and a manifest.csv. Records that cannot be read become
 * failures in the report. Slashes at the end of `given` are ignored, because files next to a record
 * have its name. Returns -1 if memory is exhausted.
 */
int ssreport_gather(struct ssreport_report *report, const char *given, int set);

/* Frees everything except members owned by topics. */
void ssreport_inputs_free(struct ssreport_report *report);

/* The maximum number of columns of a manifest or a plan. */
#define SSREPORT_SOURCE_MAX SSTRACE_PICKS

struct ssreport_source {
    const char *path;
    int set;
    bool is_requests; /* the record is one of ssrequest, even if it is empty */

    /* Cells, indexed by ssreport_source_column(); empty if absent. */
    const struct sstrace_field *fields;

    const struct ssreport_columns *columns; /* all columns of a plan; NULL without a plan */
};

/* Returns the index of a column that reports use; SIZE_MAX for other columns. */
SS_NONNULL() size_t ssreport_source_column(const char *name);

/* Returns whether struct ssreport_run has a member for a column. */
SS_NONNULL() bool ssreport_is_member(const char *column);

/* Returns whether struct ssreport_responses has one. */
SS_NONNULL() bool ssreport_is_response_member(const char *column);

/*
 * Adds the record. Parts that cannot be reported become failures in the report. Returns -1 if
 * memory is exhausted.
 */
SS_MUST_USE SS_NONNULL() int ssreport_load_record(
    struct ssreport_report *report, const struct ssreport_source *source);

/* Adds a failure for a record that cannot be reported. Returns -1 if memory is exhausted. */
SS_MUST_USE SS_NONNULL() int ssreport_add_failure(
    struct ssreport_report *report, const char *name, const char *why, enum ss_finding finding);

/* Returns whether the folder is a study of ssbatch, or a run of one. */
SS_NONNULL() bool ssreport_study_is_in(const char *folder);

/*
 * Adds the records of all runs of a study, or of one run. Records that cannot be reported become
 * failures in the report. Returns -1 if memory is exhausted.
 */
SS_MUST_USE SS_NONNULL() int ssreport_study_load(
    struct ssreport_report *report, const char *folder, int set);

#endif
