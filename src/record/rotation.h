/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_ROTATION_H
#define SHOWSTOPPER_RECORD_ROTATION_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "base/lines.h"

/*
 * A table that keeps only the last rows, so that it does not grow with the run: a file that spans
 * `keep` is put aside and replaces the previous one. At the end both are joined.
 */
struct ss_rotation {
    const char *name, *aside; /* of both files */
    const char *heading;      /* the first line of each */
    ss_time keep;  /* the table spans at least this, and at most twice; 0 keeps all rows */
    ss_time began; /* time of the first row in the file; SS_TIME_NEVER without rows */
};

/* Call this before each row, with the row's time, after the heading of the first file. */
SS_NONNULL()
void ss_rotation_turn(
    struct ss_rotation *rotation, struct ss_lines *lines, int folder, ss_time row);

/* Call this when the lines are closed. On failure, a negative errno, there are still two files. */
SS_NONNULL() int ss_rotation_join(const struct ss_rotation *rotation, int folder);

#endif
