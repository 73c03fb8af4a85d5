/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_MERGE_H
#define SSBATCH_MERGE_H

#include "plan.h"
#include "programs.h"
#include "study_folder.h"

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
 * Fails if:
 * - something other than a result has the name of a run in the folder of the study,
 * - `redo` names a run that is not in the plan, or not in `only`, which may be NULL,
 * - the plan changes the lines of the study although runs were planned or carried out with them.
 * The study need not exist yet. Writes nothing.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_check_runs(const struct ssbatch_study *study,
    const struct ssbatch_plan *plan, const char *only, const char *redo, struct ss_error *error);

/*
 * Adds the runs of a plan to those that the study keeps. A run with other columns or commands
 * replaces the kept run. If the kept run is done and not listed in `redo`, the new one is marked as
 * refused instead. Fails if ssbatch_check_runs() would. If the study gets new lines, because none
 * of its runs is done, its values are forgotten. The caller holds the lock of the study.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_merge(const struct ssbatch_study *study,
    struct ssbatch_plan *plan, const char *redo, struct ss_error *error);

/* Decision of a call about a run. */
enum ssbatch_fate {
    SSBATCH_CARRY_OUT, /* or note as skipped */
    SSBATCH_KEEP,      /* it is done or skipped */
    SSBATCH_REFUSE,    /* it is done, with other columns, commands or programs */
};

/*
 * Returns the fate of a run, or -1 with the error set. For SSBATCH_REFUSE, `why` says what has
 * changed.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3, 5, 6) int ssbatch_decide(const struct ssbatch_study *study,
    const struct ssbatch_plan *plan, const struct ssbatch_run *run, const char *redo,
    struct ssbatch_programs *programs, struct ss_error *why, struct ss_error *error);

#endif
