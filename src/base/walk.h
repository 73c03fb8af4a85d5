/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_WALK_H
#define SHOWSTOPPER_BASE_WALK_H

/*
 * The one way to open what a program writes, although another user may own parts of its path, or
 * change them meanwhile. Each component is opened without following links and judged by its
 * descriptor; what is opened at last is judged again.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/* What a path names. Links of this user, of root and of the owner of / are followed. */
struct ss_walk {
    int folder;              /* the folder of the file, O_PATH; -1 if `descriptor` is not */
    int descriptor;          /* our own one that the path names, such as /dev/stdout; or -1 */
    char name[NAME_MAX + 1]; /* in the folder; "." for a folder without a name */
    bool exists;
    bool ends_with_slash; /* only a folder may have this path */
    bool made;            /* it was created when it was opened */
    bool is_state;        /* set it before opening: as by ss_walk_open_state(), also new folders */
    bool is_bound;        /* a link of `user` was followed: folder and file must be of that user */
    uid_t user;
    struct stat status; /* of what exists; never a link */
    char why[192];      /* why the last call has refused, without the path; "" if errno says it */
};

/* Returns 0 or a negative errno. Close it in either case. */
SS_MUST_USE SS_NONNULL() int ss_walk_begin(struct ss_walk *walk, const char *path);

/* The same for a path that begins in an open folder. */
SS_MUST_USE SS_NONNULL() int ss_walk_begin_at(struct ss_walk *walk, int folder, const char *path);

/* The same for a name in an open folder, which must stay open. No link of this name is followed. */
SS_MUST_USE SS_NONNULL() int ss_walk_below(struct ss_walk *walk, int folder, const char *name);

void ss_walk_end(struct ss_walk *walk);

/*
 * Opens the file, or creates it. `flags`: O_WRONLY or O_RDWR, also O_APPEND, O_TRUNC and
 * O_NONBLOCK; without the last one, only opening does not block. A regular file must have one name,
 * and belong to us or the owner of its folder; it is emptied only then. An own descriptor is
 * duplicated. Returns the descriptor or a negative errno.
 */
SS_MUST_USE SS_NONNULL() int ss_walk_open(struct ss_walk *walk, int flags);

/*
 * Opens the folder. `flags`: O_RDONLY or O_PATH; O_CREAT to create it if it is absent; O_EXCL with
 * that to fail if it exists. Returns a new folder only if it is ours and empty, because another
 * user may exchange it before it is opened.
 */
SS_MUST_USE SS_NONNULL() int ss_walk_folder(struct ss_walk *walk, int flags);

/* Removes an open folder that is empty, if this is still its path. */
SS_NONNULL() void ss_walk_remove_folder(int folder, const char *path);

/* Returns the reason for a negative errno of these functions. */
SS_NONNULL() const char *ss_walk_explain(const struct ss_walk *walk, int status);

/* All at once for a path. On failure the error says why, without the path; returns -1. */
SS_MUST_USE SS_NONNULL(1) int ss_walk_open_path(
    const char *path, int flags, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1) int ss_walk_folder_path(
    const char *path, int flags, struct ss_error *error);
SS_MUST_USE SS_NONNULL(2) int ss_walk_open_below(
    int folder, const char *name, int flags, struct ss_error *error);
SS_MUST_USE SS_NONNULL(2) int ss_walk_folder_below(
    int folder, const char *name, int flags, struct ss_error *error);

/*
 * The same for a file that we or others act on later: only we and root may write to it. An earlier
 * file of which that is not true is replaced, because others may have it open.
 */
SS_MUST_USE SS_NONNULL(1) int ss_walk_open_state(
    const char *path, int flags, struct ss_error *error);

/* The same for writing, with O_TRUNC or O_APPEND. Returns NULL on failure. */
SS_MUST_USE SS_NONNULL(1) FILE *ss_walk_stream(const char *path, int flags, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1) FILE *ss_walk_state_stream(const char *path, struct ss_error *error);

struct ss_walk_user {
    char text[96];
    bool is_number; /* the user has no name */
};

/* Returns the name of a user, or "user NUMBER". */
struct ss_walk_user ss_walk_user_name(uid_t user);

/* Returns whether files of this user may belong to any user whom the user namespace lacks. */
bool ss_walk_is_unknown(uid_t user);

/* Returns whether what this user owns is as good as our own: it is us or root, and known. */
bool ss_walk_is_trusted(uid_t user);

#endif
