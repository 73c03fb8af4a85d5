/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_RUN_PROGRESS_H
#define SSSIM_RUN_PROGRESS_H

/* The progress of a long simulation, in one line on a terminal. */

#include <stdio.h>

#include <showstopper/contract.h>

#include "trial.h"

struct progress {
    FILE *stream; /* NULL: nothing is shown */
    size_t runs;
    size_t done; /* index of the current run */
    ss_time begin;
    ss_time drawn; /* time of the last drawing; 0: no line is shown */
};

/* Shows progress on standard error, if that is a terminal. */
SS_NONNULL() void progress_open(struct progress *progress, size_t runs);

/* Shows that this part of the current run, 0 to 1, is done; `now` is on the real clock. */
SS_NONNULL() void progress_note(struct progress *progress, double part, ss_time now);

/* Removes the line. Call this before printing. */
SS_NONNULL() void progress_clear(struct progress *progress);

/* Like trial_advance(), but shows the progress. */
SS_MUST_USE SS_NONNULL() int progress_advance(
    struct progress *progress, struct trial *trial, ss_time length, struct ss_error *error);

#endif
