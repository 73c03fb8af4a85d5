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
 * Creates the folder, which must not exist, and begins the tables if `rows` is not NULL. Leaves
 * nothing behind on failure.
 */
SS_MUST_USE SS_NONNULL(1) int request_folder_open(
    const char *path, struct request_rows *rows, struct ss_error *error);

/* Removes the folder of a run that did not begin. Close the rows first. */
SS_NONNULL() void request_folder_remove(const char *path);

SS_MUST_USE SS_NONNULL(1, 2) int request_folder_finish(
    const char *path, const struct request_result *result, struct ss_error *error);

#endif
