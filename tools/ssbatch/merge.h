/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_MERGE_H
#define SSBATCH_MERGE_H

#include "plan.h"
#include "study_folder.h"

/* Names of runs that were refused because they differ from finished runs of the same name. */
struct ssbatch_refusals {
    char **names; /* owned, with their texts */
    size_t count, room;
};

/* Returns whether the name is in a list separated by commas; the list may be NULL. */
SS_NONNULL(2) bool ssbatch_is_listed(const char *list, const char *name);

/*
 * Reads a plan from a file, or from standard input if `path` is NULL. Free the plan even on
 * failure.
 */
SS_MUST_USE SS_NONNULL(1) int ssbatch_given_plan_read(
    struct ssbatch_plan *plan, const char *path, struct ss_error *error);

/* Reads the plan that the study keeps; an absent plan is empty. Free the plan even on failure. */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_kept_plan_read(
    struct ssbatch_plan *plan, const struct ssbatch_study *study, struct ss_error *error);

/*
 * Fails if the place of a run holds something else, if `redo` names a run that the call does not
 * carry out, because the plan or, unless it is NULL, the list `only` lacks it, or if the plan
 * changes the lines of the study although runs were planned or carried out with them. The study
 * need not exist yet. Writes nothing.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_check_runs(const struct ssbatch_study *study,
    const struct ssbatch_plan *plan, const char *only, const char *redo, struct ss_error *error);

/*
 * Adds the runs of a plan to those that the study keeps. A run with other columns or commands
 * replaces the kept run. If the kept run is done and not listed in `redo`, the new one is refused
 * instead. Fails if ssbatch_check_runs() would. If the study gets new lines, because none of its
 * runs is done, its values are forgotten. The caller holds the lock of the study.
 */
SS_MUST_USE SS_NONNULL(1, 2, 4) int ssbatch_merge(const struct ssbatch_study *study,
    const struct ssbatch_plan *plan, const char *redo, struct ssbatch_refusals *refusals,
    struct ss_error *error);

SS_NONNULL() void ssbatch_refusals_free(struct ssbatch_refusals *refusals);

#endif
