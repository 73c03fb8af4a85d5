/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_PROGRESS_H
#define SSBATCH_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <showstopper/contract.h>

/*
 * Prints the progress of the study: one line that is rewritten on a terminal, otherwise a line for
 * each run. The time left is that of the plan, scaled by the times of the runs so far.
 */
struct ssbatch_progress {
    FILE *stream; /* NULL: quiet */
    bool rewrites;
    size_t runs, begun;    /* to be carried out in this call */
    double planned, taken; /* seconds, of the runs that have ended */
    double left;           /* seconds by the plan, of the remaining runs */
    bool shown;            /* a line is on the terminal */
};

/* Call this when a run begins. */
SS_NONNULL()
void ssbatch_progress_begin(struct ssbatch_progress *progress, const char *name);

/* Call this when it has ended. `taken` is 0 if its time is not typical; `seconds` is the plan's. */
SS_NONNULL()
void ssbatch_progress_end(struct ssbatch_progress *progress, double seconds, double taken);

/* Removes the line, before a message. */
SS_NONNULL() void ssbatch_progress_clear(struct ssbatch_progress *progress);

/* Returns the expected time until all runs are done, in seconds. */
SS_NONNULL() double ssbatch_progress_left(const struct ssbatch_progress *progress);

#endif
