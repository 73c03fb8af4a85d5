/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_ROTATION_H
#define SHOWSTOPPER_RECORD_ROTATION_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "base/lines.h"

/*
 * A table of which only the last rows are kept, so that it does not grow with the run: a file is
 * put aside when it spans `keep`, in the place of the one before it. At the end both become one.
 */
struct ss_rotation {
    const char *name, *aside; /* of both files */
    const char *heading;      /* the first line of each */
    ss_time keep;             /* the table spans at least this, and at most twice; 0: all rows */
    ss_time began;            /* the first row of the file; SS_TIME_NEVER: it has no row yet */
};

/* Call it before each row, with the row's time; the heading of the first file has been written. */
SS_NONNULL()
void ss_rotation_turn(
    struct ss_rotation *rotation, struct ss_lines *lines, int folder, ss_time row);

/* Call it when the lines are closed. A negative errno: there are still two files. */
SS_NONNULL() int ss_rotation_join(const struct ss_rotation *rotation, int folder);

#endif
