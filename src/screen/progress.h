/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SCREEN_PROGRESS_H
#define SHOWSTOPPER_SCREEN_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <showstopper/time.h>

#include "screen/drawing.h"

/* At most four drawings a second. */
#define SS_PROGRESS_INTERVAL (250 * SS_MILLISECOND)

enum ss_progress_when {
    SS_PROGRESS_AUTO,
    SS_PROGRESS_ALWAYS,
    SS_PROGRESS_NEVER,
};

/*
 * The live block on standard error. It keeps the rows at the bottom of the window, and the others
 * scroll without them: instances write to the terminal past us, and what they write cannot reach
 * the block, nor the block what they write. The cursor is theirs and stays where it was. Nothing of
 * this may outlive us: if the master dies, the guardian releases the rows.
 */
struct ss_progress {
    bool shown;
    bool terminal;        /* one that can move its cursor; otherwise plain lines, now and then */
    bool foreground_only; /* nothing is drawn while the run is in the background */
    bool summary_follows;
    bool unicode;
    bool colour;
    bool stale;             /* what is drawn is not what is known */
    int rows;               /* of the block that is drawn; 0: none */
    int width;              /* of the window for which it was drawn, in columns */
    int height;             /* the same, in rows */
    _Atomic uint32_t *view; /* the rows again, for the guardian */
    ss_time drawn_at;       /* when a drawing was tried last; 0: never */
    ss_time total;          /* SS_TIME_NEVER: open */
    ss_time sampled;        /* when the last sample was taken; 0: never */
    struct ss_progress_values values;
    struct ss_progress_history history;
    double next_plain; /* seconds at which the next plain line is due */
};

void ss_progress_open(
    struct ss_progress *progress, int when, bool quiet, ss_time total, _Atomic uint32_t *view);

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

/* The window has another size. */
void ss_progress_resize(struct ss_progress *progress);

/* A line above the block, where one is shown. */
__attribute__((format(printf, 2, 3))) void ss_progress_print(
    struct ss_progress *progress, const char *format, ...);

/* Before a line of our own: it begins behind what others have begun. */
void ss_progress_give_line(struct ss_progress *progress);

/* Wipes the block and begins a line; nothing is drawn any more. */
void ss_progress_finish(struct ss_progress *progress);

/* Before the summary, which would wait for a terminal that was stopped: so may we. */
void ss_progress_close(struct ss_progress *progress);

#endif
