/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_STATE_H
#define SHOWSTOPPER_BASE_STATE_H

/*
 * The only way to open state that programs keep between runs and act on: journals, plans, locks.
 * It must belong to us or root, have no other hard link, and be writable only by its owner;
 * otherwise it is refused before a byte is read. Other users' write permission is removed from our
 * own folders.
 */

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* The users whose state is accepted besides us and root. All zero: nobody else. */
struct ss_trust {
    bool everyone; /* any owner: we execute none of it, so only the kind of file is checked */
    bool has_user; /* `user`, and everybody whom that user lets write there */
    uid_t user;
    bool suggests_trust_owner; /* refusals suggest --trust-owner */
};

/* Sets the user of --trust-owner, a name or a number. */
SS_MUST_USE SS_NONNULL(1, 2) int ss_trust_user(
    struct ss_trust *trust, const char *user, struct ss_error *error);

/* The file does not exist; no error is set. */
#define SS_STATE_ABSENT (-2)

/*
 * Open a name in the folder `parent` without following links. `path` is used in messages; `flags`
 * are those of open(); `create` creates the folder if it is absent. Only we may write to new files
 * and folders. Return a descriptor, SS_STATE_ABSENT, or -1 with the error and errno set.
 */
SS_MUST_USE SS_NONNULL(2, 3, 5) int ss_state_folder(int parent, const char *name,
    const struct ss_trust *trust, bool create, const char *path, struct ss_error *error);
SS_MUST_USE SS_NONNULL(2, 4, 5) int ss_state_file(int parent, const char *name, int flags,
    const struct ss_trust *trust, const char *path, struct ss_error *error);

/*
 * Opens a file for reading. Returns NULL on failure, with the error set unless the file is absent.
 */
SS_MUST_USE SS_NONNULL(2, 3, 4) FILE *ss_state_read(int parent, const char *name,
    const struct ss_trust *trust, const char *path, struct ss_error *error);

/* Fails if the functions above would refuse this open file or folder. */
SS_MUST_USE SS_NONNULL(2, 3) int ss_state_check(
    int file, const struct ss_trust *trust, const char *path, struct ss_error *error);

/*
 * Fails if other users could rename what we create in this open folder and put something else in
 * its place: they may not own it, and may write to it only if it has the sticky bit.
 */
SS_MUST_USE SS_NONNULL(2, 3) int ss_state_check_parent(
    int folder, const struct ss_trust *trust, const char *path, struct ss_error *error);

/*
 * Fails if another user may have created this open folder, in which a recorded command is about to
 * start again. If others may create files in it, also fails if they may have created a file, or a
 * link, that a word of the command names; a word that names no file is accepted.
 */
SS_MUST_USE SS_NONNULL() int ss_state_check_start(int folder, char *const *words,
    const struct ss_trust *trust, const char *path, struct ss_error *error);

/*
 * Opens a lock file, or creates it. Permission to read is enough for flock(), so only its owner may
 * open it, unless `trust` has a user; a lock file that others may open is replaced.
 */
SS_MUST_USE SS_NONNULL(2, 3, 4) int ss_lock_open(int parent, const char *name,
    const struct ss_trust *trust, const char *path, struct ss_error *error);

/* Returns whether a locked file still has its name: the previous holder may have removed it. */
SS_NONNULL(3) bool ss_lock_has_name(int lock, int parent, const char *name);

#endif
