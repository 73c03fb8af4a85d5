/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_APPEND_LOG_H
#define SSPROFILE_APPEND_LOG_H

/*
 * A table that grows row by row over hours, in a file that one process locks. A row that has been
 * added is on disk; opening the table removes a row that an earlier process did not complete.
 */

#include <showstopper/error.h>

struct ssprofile_append_log {
    char path[4300];
    int file;    /* 0: not open */
    size_t rows; /* after the heading */
};

/* `heading` ends with a line feed. It is written if the table is new. Close it if this succeeds. */
SS_NONNULL(1, 2, 3)
int ssprofile_append_log_open(struct ssprofile_append_log *log, const char *path,
    const char *heading, struct ss_error *error);

/* `row` ends with a line feed. Nothing is added if it fails. */
SS_NONNULL(1, 2)
int ssprofile_append_log_add(
    struct ssprofile_append_log *log, const char *row, struct ss_error *error);

void ssprofile_append_log_close(struct ssprofile_append_log *log);

#endif
