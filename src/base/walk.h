/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_WALK_H
#define SHOWSTOPPER_BASE_WALK_H

/*
 * The only way to open a file for writing when another user may own parts of its path, or change
 * them meanwhile. Each component is opened without following links and checked by its descriptor;
 * the file itself is checked again once it is open.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * The file that a path names. Links of this user, of root and of the owner of / are followed, and
 * those of a folder's owner if they stay among that user's files.
 */
struct ss_walk {
    int folder;     /* the folder of the file, O_PATH; -1 if `descriptor` is used */
    int descriptor; /* one of ours that the path names, such as /dev/stdout; otherwise -1 */
    char name[NAME_MAX + 1]; /* in the folder; "." for the folder itself */
    bool exists;
    bool ends_with_slash; /* only a folder may have this path */
    bool was_created;     /* it was created when it was opened */
    bool is_state;        /* set by the caller before opening: only we and root may write to it */
    bool is_bound; /* a link of `user` was followed: folder and file must belong to that user */
    uid_t user;
    struct stat status; /* of the file if it exists; never of a link */
    char why[192];      /* why the last call refused the path; "" if errno says why */
};

/* Walks a path. Returns 0 or a negative errno; call ss_walk_end() in both cases. */
SS_MUST_USE SS_NONNULL() int ss_walk_begin(struct ss_walk *walk, const char *path);

/* Walks a path that begins in an open folder. */
SS_MUST_USE SS_NONNULL() int ss_walk_begin_at(struct ss_walk *walk, int folder, const char *path);

/* Walks a single name in an open folder. Refuses a link. */
SS_MUST_USE SS_NONNULL() int ss_walk_below(struct ss_walk *walk, int folder, const char *name);

void ss_walk_end(struct ss_walk *walk);

/*
 * Opens the file, or creates it. `flags`: O_WRONLY or O_RDWR, also O_APPEND, O_TRUNC and
 * O_NONBLOCK. Opening an existing file never blocks; writing does unless O_NONBLOCK is given. A
 * regular file must have no other hard link, and belong to us, root or the owner of its folder; it
 * is truncated only after this check. One of our own descriptors is duplicated. Returns the
 * descriptor or a negative errno.
 */
SS_MUST_USE SS_NONNULL() int ss_walk_open(struct ss_walk *walk, int flags);

/*
 * Opens the folder. `flags`: O_RDONLY or O_PATH; O_CREAT to create it if it is absent; also O_EXCL
 * to fail if it exists. Returns a new folder only if it is ours and empty, because another user may
 * replace it before it is opened.
 */
SS_MUST_USE SS_NONNULL() int ss_walk_folder(struct ss_walk *walk, int flags);

/* Removes an open folder if it is empty and this is still its path. */
SS_NONNULL() void ss_walk_remove_folder(int folder, const char *path);

/*
 * Empties an open folder that we have made, and removes it if this is still its path. Follows no
 * link, and leaves other file systems alone.
 */
SS_NONNULL() void ss_walk_remove_tree(int folder, const char *path);

/* Returns the reason for a negative errno of these functions. */
SS_NONNULL() const char *ss_walk_explain(const struct ss_walk *walk, int status);

/*
 * Walk, open and end in one call. On failure return -1, with the reason but not the path in
 * `error`.
 */
SS_MUST_USE SS_NONNULL(1) int ss_walk_open_path(
    const char *path, int flags, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1) int ss_walk_folder_path(
    const char *path, int flags, struct ss_error *error);
SS_MUST_USE SS_NONNULL(2) int ss_walk_open_below(
    int folder, const char *name, int flags, struct ss_error *error);
SS_MUST_USE SS_NONNULL(2) int ss_walk_folder_below(
    int folder, const char *name, int flags, struct ss_error *error);

/*
 * Opens a file that we or others act on later: only we and root may write to it. An existing file
 * that others may write to is replaced, because they may have it open.
 */
SS_MUST_USE SS_NONNULL(1) int ss_walk_open_state(
    const char *path, int flags, struct ss_error *error);

/*
 * Open a stream for writing. `flags` is O_TRUNC or O_APPEND; state is truncated. Return NULL on
 * failure.
 */
SS_MUST_USE SS_NONNULL(1) FILE *ss_walk_stream(const char *path, int flags, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1) FILE *ss_walk_state_stream(const char *path, struct ss_error *error);

struct ss_walk_user {
    char text[96];
    bool is_number; /* the user has no name */
};

/* Returns the name of a user, or "user NUMBER". */
struct ss_walk_user ss_walk_user_name(uid_t user);

/* Returns whether this user represents all users that are not in the user namespace. */
bool ss_walk_is_unknown(uid_t user);

/* Returns whether to trust files of this user: us and root, except if ss_walk_is_unknown(). */
bool ss_walk_is_trusted(uid_t user);

#endif
