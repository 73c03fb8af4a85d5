/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_FOLDER_H
#define SHOWSTOPPER_RECORD_FOLDER_H

#include <showstopper/contract.h>

#include "command/plan.h"

/* A record that contains this file is incomplete. */
#define SS_RECORD_MARK "interrupted"

/* Checks whether a record may be written to `path`. Creates nothing. */
SS_MUST_USE int ss_record_folder_check(const char *path, bool force, struct ss_error *error);

/*
 * The folder of the record being written. The process that holds the lock on the mark owns the
 * folder until it exits.
 */
struct ss_record_folder {
    int folder;       /* -1 if nothing is recorded */
    int mark;         /* the locked mark; -1 if we have none */
    bool was_created; /* we created the folder */
};

/* Creates the folder with the mark and copies of the inputs. Leaves nothing behind on failure. */
SS_MUST_USE int ss_record_folder_open(
    struct ss_record_folder *record, const struct ss_plan *plan, struct ss_error *error);

/* Removes the record of a run that could not be started. */
void ss_record_folder_remove(struct ss_record_folder *record, const char *path);

void ss_record_folder_close(struct ss_record_folder *record);

/* Sets the error from errno, for a file of the record. Returns -1. */
int ss_record_folder_fail(const struct ss_plan *plan, const char *name, struct ss_error *error);

#endif
