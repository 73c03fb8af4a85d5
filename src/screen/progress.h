/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SCREEN_PROGRESS_H
#define SHOWSTOPPER_SCREEN_PROGRESS_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "screen/drawing.h"

/* Minimum time between two drawings. */
#define SS_PROGRESS_INTERVAL (250 * SS_MILLISECOND)

enum ss_progress_when {
    SS_PROGRESS_AUTO,
    SS_PROGRESS_ALWAYS,
    SS_PROGRESS_NEVER,
};

/*
 * The live block on standard error. It occupies the bottom rows of the window, and only the rest of
 * the window scrolls: instances write to the terminal directly, and their output and the block do
 * not overwrite each other. The cursor belongs to the instances; drawing leaves it where it is. The
 * block must not outlive the run: if the master dies, the guardian releases the rows.
 */
struct ss_progress {
    bool shown;
    bool has_cursor; /* the terminal can move its cursor; otherwise a plain line is printed now and
                        then */
    bool foreground_only; /* draw only while the run is in the foreground */
    bool summary_follows;
    bool unicode;
    bool color;
    int file;   /* the terminal, opened again so that writes do not block; 0 for standard error */
    bool stale; /* the values have changed since the last drawing */
    int rows;   /* rows of the block on the screen; 0 if it is hidden */
    int width;  /* width of the window for which it was drawn, in columns */
    int height; /* height of that window, in rows */
    _Atomic uint32_t *view_rows; /* a copy of `rows` for the guardian */
    ss_time drawn_at;            /* time of the last attempt to draw; 0 before the first */
    ss_time total;               /* SS_TIME_NEVER for an open end */
    ss_time sampled_at;          /* time of the last sample; 0 before the first */
    struct ss_progress_values values;
    struct ss_progress_history history;
    double next_plain; /* when the next plain line is due, in seconds under control */
    ss_time retry_at;  /* when to write the rest */
    size_t rest_length;
    char rest[SS_PROGRESS_TEXT_SIZE + 512]; /* text for which the terminal had no room */
};

void ss_progress_open(
    struct ss_progress *progress, int when, bool quiet, ss_time total, _Atomic uint32_t *view_rows);

/*
 * Adds the values of the latest sample, which was taken at `sampled`. If that is the time of the
 * previous call, a sample was lost. Sets `total` itself. Prints plain lines, but draws nothing yet.
 */
void ss_progress_update(
    struct ss_progress *progress, ss_time sampled, const struct ss_progress_values *values);

/*
 * Returns when the next drawing, or the rest of one, is due; SS_TIME_NEVER if not before the next
 * sample.
 */
ss_time ss_progress_due(const struct ss_progress *progress);

/* Draws if a drawing is due and the previous one has been written. Never waits. */
void ss_progress_draw_due(struct ss_progress *progress, ss_time now);

/* Removes the block until the next drawing is due. */
void ss_progress_hide(struct ss_progress *progress);

/* Call this when the size of the window has changed. */
void ss_progress_resize(struct ss_progress *progress);

/* Prints a line above the block, whether or not it is shown. Never waits. */
SS_FORMAT(2, 0)
void ss_progress_print_line(struct ss_progress *progress, const char *format, va_list arguments);

/* Prints a line above the block if the block is shown. */
SS_FORMAT(2, 3)
void ss_progress_print_if_shown(struct ss_progress *progress, const char *format, ...);

/* Removes the block, starts a new line and ends drawing. Never waits. */
void ss_progress_finish(struct ss_progress *progress);

/*
 * Closes the live view, after ss_progress_finish(). Call this before the summary, once signals can
 * end the process again: like the summary, it may wait for a terminal that nobody reads.
 */
void ss_progress_close(struct ss_progress *progress);

#endif
