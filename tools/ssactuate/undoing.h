/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_UNDOING_H
#define SSACTUATE_UNDOING_H

#include "actuator.h"
#include "keeper/keeper.h"

/* The journal of a run, and the keeper that restores values from it if the run is killed. */
struct ssactuate_undoing {
    struct ssactuate_state state;
    struct ssactuate_journal journal;
    struct ss_keeper_job job;
    struct ss_keeper keeper;
    bool has_state, has_journal, has_keeper;

    /* Called by the keeper after it has restored values; may be NULL. */
    void (*orphaned)(void *context);
    void *context;
};

/* The changes that a run makes. */
struct ssactuate_changes {
    const struct ssactuate_plan *plan;   /* the files that it sets */
    const struct limit_group *groups[2]; /* NULL: absent */
    pid_t running[2];                    /* running process groups; 0: absent */
};

/* Reports to standard error, and removes groups through the platform. */
extern const struct ssactuate_restorer ssactuate_restorer;

/*
 * Locks the knobs, restores what killed runs have changed, and saves the current values in a
 * journal on disk. Does nothing if there is nothing to undo.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssactuate_undoing_open(struct ssactuate_undoing *undoing,
    const struct ssactuate_changes *changes, const char *root, struct ss_error *error);

/* Starts the keeper if it is needed. Call this before the first file is changed. */
SS_MUST_USE SS_NONNULL() int ssactuate_undoing_keep(
    struct ssactuate_undoing *undoing, struct ss_error *error);

/* Sets the files of a plan, which the journal must have. */
SS_MUST_USE SS_NONNULL(1, 2) int ssactuate_undoing_set(
    struct ssactuate_undoing *undoing, const struct ssactuate_plan *plan, struct ss_error *error);

/* Replaces the keeper if this child, which was reaped, was the keeper and was killed. */
SS_NONNULL()
void ssactuate_undoing_reaped(struct ssactuate_undoing *undoing, pid_t pid, int status);

/*
 * Restores everything, removes the journal, and dismisses the keeper. If that fails, prints an
 * earlier error and replaces it.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_undoing_finish(
    struct ssactuate_undoing *undoing, struct ss_error *error);

#endif
