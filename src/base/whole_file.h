/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_WHOLE_FILE_H
#define SHOWSTOPPER_BASE_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * A file that is written as a whole or not at all: it gets its name only when it is complete. A
 * pipe or a device is written directly, because no file may replace it. If the path is a link, its
 * target is replaced; in a folder in which all users may create files, such as /tmp, only if the
 * link belongs to us or to the folder's owner.
 */
struct ss_whole_file {
    FILE *stream;
    bool plain;
    int folder;      /* the path is relative to it; AT_FDCWD: to the current folder */
    char path[4100]; /* the path, with links resolved */
    char temporary[4200];
};

/*
 * Follows the path if it is a link, to the end of a chain of links. The file itself need not exist.
 * Returns 0 or a negative errno: -EACCES also for a link by which another user may redirect us.
 */
SS_WRITES(2, 3) int ss_whole_file_resolve(const char *path, char *target, size_t size);

/*
 * Checks that the file could be written now, for programs whose result comes much later. Does not
 * open a pipe, because its reader would see an end.
 */
SS_NONNULL(1) int ss_whole_file_check(const char *path, struct ss_error *error);

/* Opens the file for writing. Returns -1 and sets errno on failure. */
SS_NONNULL() int ss_whole_file_open(struct ss_whole_file *file, const char *path);

/*
 * Opens a file below an open folder, which must stay open until the file is closed. Follows no
 * link: the file replaces one of its name. Returns -1 and sets errno on failure.
 */
SS_NONNULL() int ss_whole_file_open_below(struct ss_whole_file *file, int folder, const char *name);

/*
 * Closes the file and gives it its name. On failure returns -1, sets errno, and leaves the previous
 * file of that name unchanged.
 */
SS_NONNULL() int ss_whole_file_commit(struct ss_whole_file *file);

/* The same for a path, of which - is standard output. On failure the error names the path. */
SS_MUST_USE SS_NONNULL(1, 2) int ss_whole_file_begin(
    struct ss_whole_file *file, const char *path, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1, 2) int ss_whole_file_end(
    struct ss_whole_file *file, const char *path, struct ss_error *error);

/* Closes the file and discards it. Keeps errno. */
void ss_whole_file_abandon(struct ss_whole_file *file);

#endif
