/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_FOLDER_H
#define SHOWSTOPPER_RECORD_FOLDER_H

#include "command/plan.h"

struct ss_outcome;

/* Whether a record may be made there; nothing is made yet. */
int ss_record_folder_check(const char *path, bool force, struct ss_error *error);

/*
 * The folder of the record that is being written. Whoever holds the mark, the sign that it is not
 * whole, owns it: one process at a time, and until it has died.
 */
struct ss_record_folder {
    int folder; /* -1: nothing is recorded */
    int mark;   /* -1 where folder is */
    bool made;  /* it was not there before */
};

/*
 * Makes the folder of a record, with the plan, the platform and the mark. When it fails nothing of
 * that is left.
 */
int ss_record_folder_open(
    struct ss_record_folder *record, const struct ss_plan *plan, struct ss_error *error);

/* Takes everything away again: the run could not be started. */
void ss_record_folder_remove(struct ss_record_folder *record, const char *path);

void ss_record_folder_close(struct ss_record_folder *record);

/* Behind everything else: the summary, and that the record is whole. */
int ss_record_finish(
    const struct ss_plan *plan, struct ss_outcome *outcome, struct ss_error *error);

#endif
