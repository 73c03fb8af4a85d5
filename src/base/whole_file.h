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
 * target is replaced.
 */
struct ss_whole_file {
    FILE *stream;
    bool plain;
    char path[4100]; /* the path, with links resolved */
    char temporary[4200];
};

/*
 * Follows the path if it is a link, to the end of a chain of links. The file itself need not exist.
 * Returns 0 or a negative errno.
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
 * Closes the file and gives it its name. On failure returns -1, sets errno, and leaves the previous
 * file of that name unchanged.
 */
SS_NONNULL() int ss_whole_file_commit(struct ss_whole_file *file);

/* Closes the file and discards it. Keeps errno. */
void ss_whole_file_abandon(struct ss_whole_file *file);

#endif
