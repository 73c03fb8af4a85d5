/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_FOLDER_H
#define SHOWSTOPPER_RECORD_FOLDER_H

#include "plan.h"

/* Whether a record may be made there; nothing is made yet. */
int ss_record_folder_check(const char *path, bool force, struct ss_error *error);

/*
 * Makes the folder of a record, with the plan, the platform and the sign that it is not whole yet.
 * Returns its descriptor, or -1.
 */
int ss_record_folder_open(const struct ss_plan *plan, struct ss_error *error);

#endif
