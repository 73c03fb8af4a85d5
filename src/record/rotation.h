/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_ROTATION_H
#define SHOWSTOPPER_RECORD_ROTATION_H

#include <stdbool.h>

#include <showstopper/contract.h>

#include "base/lines.h"

/*
 * A table that keeps only the last rows, so that it does not grow with the run: a file that spans
 * `keep` is put aside and replaces the previous one. At the end the two files are joined.
 */
struct ss_rotation {
    const char *name, *aside; /* names of both files */
    const char *heading;      /* the first line of each file */
    ss_time keep;  /* the table spans at least this time, and at most twice as much; 0 keeps all
                      rows */
    ss_time began; /* time of the first row in the file; SS_TIME_NEVER without rows */
    int why;       /* errno of the first failure to put a file aside, which then keeps its rows, or
                      0 */
};

/*
 * Starts a new file if the time for the current one is over. If that fails, the current one takes
 * more rows until the next time. Call this before each row, with the
 * row's time, after the heading of the first file.
 */
SS_NONNULL()
void ss_rotation_turn(
    struct ss_rotation *rotation, struct ss_lines *lines, int folder, ss_time row);

/*
 * Joins both files. Call this when the lines are closed. Returns 0 or a negative errno; on failure
 * there are still two files.
 */
SS_NONNULL() int ss_rotation_join(const struct ss_rotation *rotation, int folder);

#endif
