/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_WHOLE_FILE_H
#define SHOWSTOPPER_BASE_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/walk.h"

/*
 * A file that is written as a whole or not at all: it gets its name only when it is complete. A
 * pipe, a device or one of our own descriptors is written directly, because no file may replace it.
 * If the path is a link that a walk follows, its target is replaced.
 */
struct ss_whole_file {
    FILE *stream;
    bool is_regular;         /* a regular file, written under its temporary name */
    bool owns_folder;        /* `folder` is closed with the file */
    int folder;              /* -1 if the file is not plain */
    char name[NAME_MAX + 1]; /* in the folder */
    char temporary[NAME_MAX + 1];
    char why[256]; /* why the path was refused; "" if errno says why */
};

/*
 * Checks that the file could be written now, for programs whose result comes much later. Does not
 * open a pipe, because its reader would see it close again.
 */
SS_NONNULL(1) int ss_whole_file_check(const char *path, struct ss_error *error);

/* Opens the file for writing. Returns -1 and sets errno on failure. */
SS_NONNULL() int ss_whole_file_open(struct ss_whole_file *file, const char *path);

/*
 * Opens a file in an open folder, which must stay open until the file is closed. Replaces a link of
 * this name. Others may not write to the file at any time. Returns -1 and sets errno on failure.
 */
SS_NONNULL() int ss_whole_file_open_below(struct ss_whole_file *file, int folder, const char *name);

/*
 * Closes the file and gives it its name. On failure returns -1, sets errno, and leaves the previous
 * file of that name unchanged.
 */
SS_NONNULL() int ss_whole_file_commit(struct ss_whole_file *file);

/* Open and commit a path; - is standard output. On failure the error names the path. */
SS_MUST_USE SS_NONNULL(1, 2) int ss_whole_file_begin(
    struct ss_whole_file *file, const char *path, struct ss_error *error);
SS_MUST_USE SS_NONNULL(1, 2) int ss_whole_file_end(
    struct ss_whole_file *file, const char *path, struct ss_error *error);

/* Closes the file and discards it. Preserves errno. */
void ss_whole_file_abandon(struct ss_whole_file *file);

#endif
