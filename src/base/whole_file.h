/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_WHOLE_FILE_H
#define SHOWSTOPPER_BASE_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * A file that is written whole or not at all: it has its name only when all of it is there. A pipe
 * or a device is written into as it is, as it must not be replaced by a file, and so is what a link
 * points to.
 */
struct ss_whole_file {
    FILE *stream;
    bool plain;
    char path[4100]; /* links followed */
    char temporary[4200];
};

/*
 * Where a file of this name is or would be made: a link counts as its target, which need
 * not be there. 0, or a negative errno.
 */
SS_WRITES(2, 3) int ss_whole_file_resolve(const char *path, char *target, size_t size);

/*
 * Whether it could be written now: for programs whose result comes much later. The open() of a pipe
 * is not tried, because its reader would see an end.
 */
SS_NONNULL(1) int ss_whole_file_check(const char *path, struct ss_error *error);

/* All fail with -1 and errno. */
SS_NONNULL() int ss_whole_file_open(struct ss_whole_file *file, const char *path);

/* Closes it, too. When it fails, what had the name before still has it. */
SS_NONNULL() int ss_whole_file_commit(struct ss_whole_file *file);

/* Nothing was written. */
void ss_whole_file_abandon(struct ss_whole_file *file);

#endif
