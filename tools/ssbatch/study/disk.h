/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_DISK_H
#define SSBATCH_DISK_H

#include <stdbool.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "base/state.h"

/*
 * Files that survive a power cut. Trees are opened folder by folder, so that users who may write to
 * a folder in a tree cannot make us leave it.
 */

#define SSBATCH_PATH_SIZE 4200

/* Writes "FOLDER/NAME". Fails if the path is too long. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_disk_path(
    char path[SSBATCH_PATH_SIZE], const char *folder, const char *name, struct ss_error *error);

/* Makes a folder, unless it exists, with this mode for mkdir(), and syncs its parent. */
SS_MUST_USE SS_NONNULL(1) int ssbatch_disk_make_folder(
    const char *path, mode_t mode, struct ss_error *error);

/* Returned with the error set if this user must not read a file, such as one that sudo has made. */
#define SSBATCH_UNREADABLE (-4)

/* Syncs a folder with all that is in it, contents first, even if this user cannot read it. */
SS_MUST_USE SS_NONNULL(1) int ssbatch_disk_sync_tree(const char *path, struct ss_error *error);

/* Renames a file or folder. With `syncs`, syncs the folder of the new name. */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_disk_move(
    const char *from, const char *to, bool syncs, struct ss_error *error);

/* Removes a file in an open folder, and syncs the folder; succeeds if the file does not exist. */
SS_MUST_USE SS_NONNULL(2, 3) int ssbatch_disk_unlink(
    int folder, const char *name, const char *path, struct ss_error *error);

/*
 * Writes a file of an open folder under a temporary name, syncs it, renames it, and syncs the
 * folder. Only this user may write to it. `path` is for messages.
 */
SS_MUST_USE SS_NONNULL(2, 3, 4) int ssbatch_disk_write(
    int folder, const char *name, const char *path, const char *text, struct ss_error *error);

/* Returns whether this is a folder of this user. */
SS_NONNULL() bool ssbatch_disk_is_own(const char *path);

/*
 * Opens a folder that only this user may enter, inside one where other users cannot replace it,
 * such as /dev/shm. With `makes`, makes a new one. Returns a descriptor.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssbatch_disk_open_private(
    const char *path, const struct ss_trust *trust, bool makes, struct ss_error *error);

/*
 * Removes a tree, without a sync; succeeds if it does not exist. Removes what it can, even from
 * read-only folders of this user, but nothing from what is mounted in it; the error is that of the
 * first file that remains.
 */
SS_NONNULL(1) int ssbatch_disk_remove_tree(const char *path, struct ss_error *error);

/*
 * Turns the existing folder `to` into a copy of `from`, without a sync. `from_folder` and
 * `to_folder` are descriptors of the parent folders; -1: opened by the path. Adds, replaces and
 * removes files. Links are copied as links; pipes and sockets are not copied. Originals and copies
 * become readable for their owner, and copies of folders writable. Returns SSBATCH_UNREADABLE if
 * the copy lacks nothing but files that this user must not read.
 */
SS_MUST_USE SS_NONNULL(2, 4) int ssbatch_disk_copy_tree(
    int from_folder, const char *from, int to_folder, const char *to, struct ss_error *error);

#endif
