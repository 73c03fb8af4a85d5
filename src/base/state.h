/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_STATE_H
#define SHOWSTOPPER_BASE_STATE_H

/*
 * The one way to open what programs keep from one call to the next and act on: journals, plans,
 * locks. It must belong to us or root and have one name, and only they may write to it; otherwise
 * it is refused before a byte of it is read. Our own folders lose the permission that others have.
 */

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* Whose state is accepted, other than ours. Zeroed: nobody's. */
struct ss_trust {
    bool everyone; /* nothing of it is carried out: only its kind of file is checked */
    bool has_user; /* also that of this user, and of all whom this user lets write there */
    uid_t user;
    bool can_trust; /* refusals suggest --trust-owner */
};

/* Sets the user of --trust-owner, a name or a number. */
SS_MUST_USE SS_NONNULL(1, 2) int ss_trust_user(
    struct ss_trust *trust, const char *user, struct ss_error *error);

/* Returned without an error if the file does not exist. */
#define SS_STATE_ABSENT (-2)

/*
 * These open a name in the folder `parent`, and follow no link. `path` is for messages. They return
 * a descriptor, or -1 with the error and errno set. `flags` of a file as for open(); a new file can
 * be written by us only, a new folder as well.
 */
SS_MUST_USE SS_NONNULL(2, 3, 5) int ss_state_folder(int parent, const char *name,
    const struct ss_trust *trust, bool makes, const char *path, struct ss_error *error);
SS_MUST_USE SS_NONNULL(2, 4, 5) int ss_state_file(int parent, const char *name, int flags,
    const struct ss_trust *trust, const char *path, struct ss_error *error);

/* Opens a file for reading. Returns NULL, with the error set unless the file does not exist. */
SS_MUST_USE SS_NONNULL(2, 3, 4) FILE *ss_state_read(int parent, const char *name,
    const struct ss_trust *trust, const char *path, struct ss_error *error);

/* Fails unless the open file is acceptable. */
SS_MUST_USE SS_NONNULL(2, 3) int ss_state_check(
    int file, const struct ss_trust *trust, const char *path, struct ss_error *error);

/*
 * Fails unless nobody else can rename what we make in this open folder, and put something else in
 * its place: others may not write to it, or it has the sticky bit.
 */
SS_MUST_USE SS_NONNULL(2, 3) int ss_state_check_parent(
    int folder, const struct ss_trust *trust, const char *path, struct ss_error *error);

/*
 * Fails if another user may have made this open folder, in which a recorded command is to start
 * once more, or the files that its words name there.
 */
SS_MUST_USE SS_NONNULL() int ss_state_check_start(int folder, char *const *words,
    const struct ss_trust *trust, const char *path, struct ss_error *error);

/*
 * Opens a file for flock(), which needs no more than permission to read: only its owner has it. A
 * lock file that others may open is replaced.
 */
SS_MUST_USE SS_NONNULL(2, 3, 4) int ss_lock_open(int parent, const char *name,
    const struct ss_trust *trust, const char *path, struct ss_error *error);

/* Returns whether a locked file still has its name: the previous holder may have removed it. */
SS_NONNULL(3) bool ss_lock_has_name(int lock, int parent, const char *name);

#endif
