/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_APPEND_LOG_H
#define SSPROFILE_APPEND_LOG_H

/*
 * A table in a file that grows row by row over hours, and the lock of its folder. Rows are on disk
 * as soon as they are added; opening the table removes a row that an earlier process left
 * incomplete.
 */

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Locks a folder, so that only one process writes its tables. `path` is for messages. Returns the
 * descriptor that holds the lock.
 */
SS_MUST_USE SS_NONNULL(2) int ssprofile_append_log_lock(
    int folder, const char *path, struct ss_error *error);

/* Zeroed: not open. */
struct ssprofile_append_log {
    char *path;  /* owned */
    int file;    /* 0 if not open */
    size_t rows; /* number of rows after the heading */
};

/*
 * Opens the table and, if it is new, writes `heading`, which ends with a line feed. Close it even
 * on failure.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssprofile_append_log_open(struct ssprofile_append_log *log,
    const char *path, const char *heading, struct ss_error *error);

/* Adds a row, which ends with a line feed. Adds nothing on failure. */
SS_MUST_USE SS_NONNULL(1, 2) int ssprofile_append_log_add(
    struct ssprofile_append_log *log, const char *row, struct ss_error *error);

void ssprofile_append_log_close(struct ssprofile_append_log *log);

#endif
