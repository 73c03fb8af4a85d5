/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_PROGRESS_H
#define SHOWSTOPPER_PROGRESS_H

#include <stdbool.h>

#include <showstopper/time.h>

#include "progress_draw.h"

/* At most four drawings a second. */
#define SS_PROGRESS_INTERVAL (250 * SS_MILLISECOND)

/*
 * The live block on standard error. It hangs below the line in which the cursor stands and leaves
 * the cursor where it was: what others write there meanwhile goes on where it would have without
 * us, and wiping is to erase all that is below, whatever the window's size is by then.
 */
struct ss_progress {
    bool shown;
    bool terminal;        /* one that can move its cursor; otherwise plain lines, now and then */
    bool foreground_only; /* nothing is drawn while the run is in the background */
    bool output_too;      /* standard output is the same terminal */
    bool summary_follows;
    bool unicode;
    bool colour;
    bool drawn;       /* there is a block to be wiped */
    bool stale;       /* what is drawn is not what is known */
    ss_time drawn_at; /* when a drawing was tried last; 0: never */
    ss_time total;    /* SS_TIME_NEVER: open */
    ss_time sampled;  /* when the last sample was taken; 0: never */
    struct ss_progress_values values;
    struct ss_progress_history history;
    double next_plain; /* seconds at which the next plain line is due */
};

void ss_progress_open(struct ss_progress *progress, int when, bool quiet, ss_time total);

/*
 * What was seen at `sampled`, which does not change when a sample was lost; the values' `total` is
 * filled in. Nothing is drawn yet but plain lines.
 */
void ss_progress_note(
    struct ss_progress *progress, ss_time sampled, const struct ss_progress_values *values);

/* When there will be something to draw; SS_TIME_NEVER: not before the next sample. */
ss_time ss_progress_due(const struct ss_progress *progress);

/* Draws what is due. Waits for nobody. */
void ss_progress_draw_due(struct ss_progress *progress, ss_time now);

/* Wipes the block, to be drawn again when it is due. */
void ss_progress_hide(struct ss_progress *progress);

/* Wipes the block if output that is passed on to this file would run into it. */
void ss_progress_make_way(struct ss_progress *progress, int file);

/* A line above the block, where one is shown. */
__attribute__((format(printf, 2, 3))) void ss_progress_print(
    struct ss_progress *progress, const char *format, ...);

/* Wipes the block for a line of our own: it begins behind what others have begun. */
void ss_progress_give_line(struct ss_progress *progress);

/* The same, and nothing is drawn any more. */
void ss_progress_finish(struct ss_progress *progress);

/* Before the summary, which would wait for a terminal that was stopped: so may we. */
void ss_progress_close(struct ss_progress *progress);

#endif
