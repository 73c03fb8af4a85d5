/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_INPUT_FILE_H
#define SHOWSTOPPER_BASE_INPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Opens a file in a folder that another user may have filled, such as a record. Links are followed
 * as by ss_walk_begin(). Accepts regular files of at most `max` bytes, and never blocks: opening a
 * FIFO blocks until it has a writer, and a device may have no end. `path` is relative to the
 * descriptor `folder`, as for openat(). Returns a descriptor, or -1 with `error` and errno set. Do
 * not use it for files that the user names, which may be pipes.
 */
SS_MUST_USE SS_NONNULL(2) int ss_input_open(
    int folder, const char *path, off_t max, struct ss_error *error);

/* Like ss_input_open(), but opens a stream. Returns NULL on failure. */
SS_MUST_USE SS_NONNULL(2) FILE *ss_input_stream(
    int folder, const char *path, off_t max, struct ss_error *error);

/*
 * Returns whether the path exists. A link that ss_input_open() would refuse counts as existing, so
 * that the result does not reveal whether its target exists.
 */
SS_MUST_USE SS_NONNULL() bool ss_input_exists(int folder, const char *path);

#endif
