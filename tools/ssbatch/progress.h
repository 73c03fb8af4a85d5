/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_PROGRESS_H
#define SSBATCH_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

/*
 * Prints the progress of the study: one line that is rewritten on a terminal, otherwise a line for
 * each run. The remaining time is the planned time, scaled by how long earlier runs took.
 */
struct ssbatch_progress {
    FILE *stream; /* NULL: quiet */
    bool rewrites;
    size_t runs, begun;    /* number of runs to carry out in this call, and of begun runs */
    double planned, taken; /* planned and actual time of the runs that have ended, in seconds */
    double left;           /* planned time of the remaining runs, in seconds */
    bool shown;            /* a line is on the terminal */
};

SS_NONNULL() void ssbatch_progress_begin(struct ssbatch_progress *progress, const char *name);

/*
 * Updates the time left when a run has ended. `taken` is 0 if its time is not typical; `seconds` is
 * the planned time.
 */
SS_NONNULL()
void ssbatch_progress_end(struct ssbatch_progress *progress, double seconds, double taken);

/* Clears the line, so that a message can be printed in its place. */
SS_NONNULL() void ssbatch_progress_clear(struct ssbatch_progress *progress);

/* Returns the expected time until all runs are done, in seconds. */
SS_NONNULL() double ssbatch_progress_left(const struct ssbatch_progress *progress);

/* Writes a time such as "3.5 s", "6 min 01 s" or "2 h 28 min". */
SS_NONNULL() void ssbatch_span_print(FILE *stream, ss_time time);

#endif
