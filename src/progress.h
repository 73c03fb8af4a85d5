/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_PROGRESS_H
#define SHOWSTOPPER_PROGRESS_H

#include <stdbool.h>

#include <showstopper/time.h>

#define SS_PROGRESS_HISTORY 24

/* The live line on standard error. */
struct ss_progress {
    bool shown;
    bool terminal; /* one line, redrawn; otherwise plain lines, now and then */
    bool drawn;    /* there is a line to be wiped */
    ss_time total; /* SS_TIME_NEVER: open */
    double loads[SS_PROGRESS_HISTORY];
    double targets[SS_PROGRESS_HISTORY];
    int count;
    double next_plain; /* seconds at which the next plain line is due */
};

void ss_progress_open(struct ss_progress *progress, int when, bool quiet, ss_time total);

/* A new sample; `elapsed` in seconds of control, negative before it. NaN: not known. */
void ss_progress_show(
    struct ss_progress *progress, double elapsed, double target, double load, double duty);

/* Wipes the line, so that others can write. */
void ss_progress_hide(struct ss_progress *progress);

#endif
