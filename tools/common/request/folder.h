/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_FOLDER_H
#define REQUEST_FOLDER_H

/*
 * The folder of --record. requests.csv and response-times.csv are written during the run, and
 * requests.json at its end: a record without it was interrupted.
 */

#include <showstopper/contract.h>

#include "rows.h"

/*
 * Creates the folder, which must not exist, and begins the tables if `rows` is not NULL. Returns
 * its descriptor: use it to finish the record, because another user may have replaced the folder at
 * the path by then. Leaves nothing behind on failure.
 */
SS_MUST_USE SS_NONNULL(1) int request_folder_create(
    const char *path, struct request_rows *rows, struct ss_error *error);

/* Removes the files of a run that did not begin, and the folder. Close the rows first. */
SS_NONNULL() void request_folder_remove(int folder, const char *path);

/* Completes the record: writes requests.json. `path` is for messages. */
SS_MUST_USE SS_NONNULL(2, 3) int request_folder_finish(
    int folder, const char *path, const struct request_result *result, struct ss_error *error);

#endif
