/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_STUDY_FOLDER_H
#define SSBATCH_STUDY_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "base/state.h"
#include "disk.h"

/*
 * The folder of a study. Names without a leading dot are results:
 *
 *   NAME/run.json    a run that was carried out or skipped, with its records and output
 *   .NAME.part/      temporary files of a run that is being carried out, or was interrupted;
 *                    .NAME.part/result becomes NAME
 *   .study/plan      the plan, with all runs that were ever added
 *   .study/values    the values of `once` lines
 *   .study/lock      locked while the plan is merged; names the host and the process
 *   .study/locks/NAME locked while a run is carried out
 *   .study/runs/NAME names the host and the process that carries it out, for all users
 *   .study/calls/    what calls have to undo, see calls.h
 */
struct ssbatch_study {
    char path[SSBATCH_PATH_SIZE]; /* absolute path */
    char host[65];
    char boot[40]; /* changes with each start of the host */
    int state;     /* the folder .study; -1 if absent */
    struct ss_trust trust;
    /* Called once if a lock is held for longer than a second; may be NULL. */
    void (*report_wait)(const char *lock, const char *holder);
};

enum ssbatch_study_mode {
    SSBATCH_STUDY_READ,      /* for reading: carries out nothing, accepts state of all users */
    SSBATCH_STUDY_CARRY_OUT, /* accepts only state of this user, root and --trust-owner */
    SSBATCH_STUDY_CREATE,    /* like SSBATCH_STUDY_CARRY_OUT, but creates an absent study */
};

/* Returned with the error set if the study does not exist; its path is set. */
#define SSBATCH_ABSENT (-5)

/*
 * Opens a study; close it, even on failure. `trust_owner` is NULL or the value of that option.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_study_open(struct ssbatch_study *study, const char *path,
    enum ssbatch_study_mode mode, const char *trust_owner, struct ss_error *error);

SS_NONNULL() void ssbatch_study_close(struct ssbatch_study *study);

/*
 * Opens a file of .study for reading. Returns NULL, with the error set unless the file does not
 * exist.
 */
SS_MUST_USE SS_NONNULL(1, 2) FILE *ssbatch_study_open_file(
    const struct ssbatch_study *study, const char *name, struct ss_error *error);

/*
 * Opens a folder of .study. With `makes`, makes it if it does not exist. Returns its descriptor or,
 * on failure, the same as ss_state_folder().
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_study_open_folder(
    const struct ssbatch_study *study, const char *name, bool makes, struct ss_error *error);

struct ssbatch_path {
    char text[SSBATCH_PATH_SIZE];
};

/* Returns a path below the folder of the study, by value, so that calls fit into argument lists. */
SS_FORMAT(2, 3)
SS_MUST_USE SS_NONNULL(1, 2) struct ssbatch_path
    ssbatch_study_path(const struct ssbatch_study *study, const char *format, ...);

/* The hidden folder of a run, and the one in it that becomes the result. */
#define SSBATCH_HIDDEN_FORMAT ".%s.part"
#define SSBATCH_RESULT        "result"

/* Waits for the lock on the plan. Returns its descriptor, or -1; closing it unlocks. */
SS_MUST_USE SS_NONNULL(1) int ssbatch_study_lock(
    const struct ssbatch_study *study, struct ss_error *error);

/* The process that holds a lock. */
struct ssbatch_holder {
    char host[65];
    pid_t pid;
};

/* Returned by ssbatch_study_lock_run() if another process has the lock. */
#define SSBATCH_HELD (-2)

/*
 * Locks a run for this process and its later children. Returns a descriptor, -1 with the error set,
 * or SSBATCH_HELD with the holder.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_study_lock_run(const struct ssbatch_study *study,
    const char *name, struct ssbatch_holder *holder, struct ss_error *error);

enum ssbatch_lock {
    SSBATCH_FREE,
    SSBATCH_LOCKED,
    SSBATCH_MAYBE_LOCKED, /* the lock belongs to another user, and we cannot open it */
};

/*
 * Returns whether a process carries out a run, and which one. Does not make a concurrent
 * ssbatch_study_lock_run() fail. A process on another host counts even if it was killed, because
 * not all file systems show the locks of other hosts.
 */
SS_MUST_USE SS_NONNULL() enum ssbatch_lock ssbatch_study_lock_state(
    const struct ssbatch_study *study, const char *name, struct ssbatch_holder *holder);

/*
 * Waits for the lock of a file that ss_lock_open() opened, and calls `report_wait` if that takes
 * long. Fails after `limit` polls; 0: never. `holder` names the holder; if "", the file names it.
 */
SS_MUST_USE SS_NONNULL(1, 3, 4) int ssbatch_study_await_lock(const struct ssbatch_study *study,
    int lock, const char *path, const char *holder, int limit, struct ss_error *error);

/* Unlocks a run, even if processes that were forked since still live. */
SS_NONNULL()
void ssbatch_study_unlock_run(const struct ssbatch_study *study, const char *name, int lock);

/*
 * Fails if the folder with the name of a run is not a result: a call would replace it with the
 * result.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_study_check_place(
    const struct ssbatch_study *study, const char *name, struct ss_error *error);

/*
 * Completes the replacement of a result if a call was killed after it had moved the earlier one
 * away: moves the new result or, if it is incomplete, the earlier one to its place.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_study_recover(
    const struct ssbatch_study *study, const char *name, struct ss_error *error);

/* Returned with the error set if files that were to be removed remain. */
#define SSBATCH_NOT_REMOVED (-3)

/*
 * Removes what a call has left of a finished run if the call was killed between naming the result
 * and unlocking the run, or could not remove it. Returns SSBATCH_NOT_REMOVED if it remains.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_study_tidy(
    const struct ssbatch_study *study, const char *name, struct ss_error *error);

/* Files that an attempt finds in the folders of its run. */
enum ssbatch_reuse {
    SSBATCH_REUSE_NOTHING,
    SSBATCH_REUSE_INTERRUPTED, /* those of an attempt that was interrupted */
    SSBATCH_REUSE_RESULT,      /* or else the result, which is that of a failed attempt */
};

/*
 * Makes the hidden folder of a run, with the folder of its result. If anything is to be reused,
 * syncs their names, so that files which a command syncs in them survive a power cut; otherwise
 * empties them, and returns SSBATCH_NOT_REMOVED if that is impossible.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_study_begin(const struct ssbatch_study *study,
    const char *name, enum ssbatch_reuse reuse, struct ss_error *error);

/*
 * Gives the result its name, replacing an earlier one, and removes the hidden folder. The whole
 * result is on disk before it gets the name, and the name is on disk when this returns. Returns
 * SSBATCH_NOT_REMOVED if this succeeded, but files of the attempt or of the earlier result remain.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_study_commit(
    const struct ssbatch_study *study, const char *name, struct ss_error *error);

#endif
