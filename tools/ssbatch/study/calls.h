/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_CALLS_H
#define SSBATCH_CALLS_H

#include <stdint.h>

#include "study_folder.h"

/*
 * Journals of what calls of ssbatch have to undo. A call has a folder in .study/calls, named by its
 * mark, with a file `lock` that the call and its forked children hold, and a journal NAME.undo for
 * each run in progress, which has these lines:
 *
 *   folder PATH           the current folder of the commands
 *   statuses LIST         exit statuses that mean success for the next `after`; otherwise only 0
 *   after WORD...         a command to carry out
 *   remove PATH [RESULT]  a folder to remove; with RESULT, its subfolder `result` is first copied
 *                         there, unless another call has begun the run since
 *
 * A journal is on disk before anything that it undoes is done, and only the host of its call
 * carries it out.
 */

#define SSBATCH_CALL_MARK_SIZE 128

struct ssbatch_call {
    const struct ssbatch_study *study;
    /* HOST:BOOT:PID:STARTED; also in the environment of commands. */
    char mark[SSBATCH_CALL_MARK_SIZE];
    int folder; /* the folder of the call */
    int lock;
};

SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_call_open(struct ssbatch_call *call,
    const struct ssbatch_study *study, uint64_t started, struct ss_error *error);

/* Writes the journal of a run, or of the study's own lines ("" as its name). */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_call_write_journal(
    const struct ssbatch_call *call, const char *name, const char *journal, struct ss_error *error);

/*
 * Notes in the hidden folder of a run whether the files of this attempt are in memory: until the
 * next attempt, which may be on another host, this call alone may copy files from there.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_call_claim(
    const struct ssbatch_call *call, const char *name, bool in_memory, struct ss_error *error);

/* Removes the journal of a run. Call this when everything in it is undone. */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_call_remove_journal(
    const struct ssbatch_call *call, const char *name, struct ss_error *error);

/* Makes a folder for temporary files inside the call's folder. */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_call_make_folder(
    const struct ssbatch_call *call, char path[SSBATCH_PATH_SIZE], struct ss_error *error);

/* Removes the call's folder, unless it still has journals. */
SS_NONNULL() void ssbatch_call_close(struct ssbatch_call *call);

/* The operations that undoing needs; tests supply their own. */
struct ssbatch_undoer {
    void *context;
    /* Carries out one `after`. `ok` lists the exit statuses that mean success. */
    int (*after)(void *context, char *const *words, const char *folder, const char *ok,
        struct ss_error *error);
    /* Ends the processes of a dead call. Returns how many are left. */
    size_t (*end_marked)(const char *mark);
    bool (*lives)(pid_t pid, uint64_t started);
};

/*
 * Carries out the journals of one call. After a failure it continues with the next line. A journal
 * is removed once all of its lines have succeeded.
 */
SS_NONNULL(1, 2, 3)
int ssbatch_call_undo(const struct ssbatch_study *study, const char *mark,
    const struct ssbatch_undoer *undoer, struct ss_error *error);

/* Returns whether a call is running, or was killed and is not undone yet. */
SS_NONNULL() bool ssbatch_calls_exist(const struct ssbatch_study *study);

/*
 * Kills the processes that dead calls on this host have left, and carries out their journals; if
 * the keeper of a call is doing so, waits for it. With a name, considers only calls with a journal
 * of that run, and fails if such a call lives. `own` is the caller's mark, or "".
 */
SS_MUST_USE SS_NONNULL(1, 2, 4) int ssbatch_calls_clean_up(const struct ssbatch_study *study,
    const char *own, const char *name, const struct ssbatch_undoer *undoer, struct ss_error *error);

#endif
