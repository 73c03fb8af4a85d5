/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/progress.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/streams.h"
#include "screen/window.h"

#define PLAIN_SECONDS 10
#define WIDTH_MAX     1000
#define BLANKS_MAX    (WIDTH_MAX + 8)
#define MESSAGE_MAX   8192

/* Terminals require at least two rows in a scroll region. */
#define SCROLLED_MIN 2

#define LINE_DOWN "\033D"  /* moves down in the same column; scrolls if necessary */
#define ERASE_ROW "\033[K" /* erases from the cursor to the end of the row */

/*
 * Returns whether rows can be reserved: without the height of the terminal, the position of the
 * block is not known.
 */
static bool can_reserve(void) {
    int width;
    int height;
    return ss_screen_has_cursor(STDERR_FILENO) && ss_screen_size(STDERR_FILENO, &width, &height);
}

void ss_progress_open(struct ss_progress *progress, int when, bool quiet, ss_time total,
    _Atomic uint32_t *view_rows) {
    const char *no_color = getenv("NO_COLOR");
    int file = ss_streams_open_unblocked(STDERR_FILENO);

    *progress = (struct ss_progress){
        .file = file > 0 ? file : 0,
        .shown = when == SS_PROGRESS_ALWAYS ||
                 (when == SS_PROGRESS_AUTO && isatty(STDERR_FILENO) && !quiet),
        .has_cursor = can_reserve(),
        .foreground_only = when == SS_PROGRESS_AUTO,
        .summary_follows = !quiet,
        .unicode = ss_screen_is_unicode(),
        .color = !no_color || !*no_color,
        .total = total,
        .view_rows = view_rows,
    };
}

/*
 * Returns whether the run is in the background. In a PID namespace of our own, the foreground group
 * has no pid: then the block is drawn.
 */
static bool is_in_background(void) {
    pid_t group = tcgetpgrp(STDERR_FILENO);
    return group > 0 && group != getpgrp();
}

static int file_of(const struct ss_progress *progress) {
    return progress->file > 0 ? progress->file : STDERR_FILENO;
}

/*
 * Writes as much of the rest as there is room for, in one piece with signals blocked: a signal
 * would split the text, and another process could write in between. Ignores errors, because the run
 * does not depend on this output. Returns whether nothing is left.
 */
static bool write_rest(struct ss_progress *progress) {
    sigset_t all;
    sigset_t before;
    if (progress->rest_length == 0)
        return true;
    if (!ss_streams_has_room(file_of(progress)))
        return false;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    ssize_t written = write(file_of(progress), progress->rest, progress->rest_length);
    if (written < 0)
        written = errno == EAGAIN ? 0 : (ssize_t)progress->rest_length;
    sigprocmask(SIG_SETMASK, &before, NULL);

    progress->rest_length -= (size_t)written;
    memmove(progress->rest, progress->rest + written, progress->rest_length);
    return progress->rest_length == 0;
}

/* Writes any earlier rest. Returns whether another text can be written, at least in part. */
static bool has_room(struct ss_progress *progress) {
    return write_rest(progress) && ss_streams_has_room(file_of(progress));
}

/* Writes a text, and keeps what the terminal has no room for. There must be no earlier rest. */
static void write_out(struct ss_progress *progress, const char *text, size_t length) {
    progress->rest_length = length < sizeof progress->rest ? length : sizeof progress->rest;
    memcpy(progress->rest, text, progress->rest_length);
    write_rest(progress);
}

static void print_plain(struct ss_progress *progress) {
    char line[512];
    char text[600];
    const struct ss_progress_values *values = &progress->values;
    if (values->elapsed < progress->next_plain || !has_room(progress))
        return;
    progress->next_plain = (floor(values->elapsed / PLAIN_SECONDS) + 1) * PLAIN_SECONDS;
    ss_progress_print_values(line, sizeof line, values, (int)sizeof line);
    int length = snprintf(text, sizeof text, "showstopper: %s\n", line);
    write_out(progress, text, (size_t)length);
}

void ss_progress_update(
    struct ss_progress *progress, ss_time sampled, const struct ss_progress_values *values) {
    if (!progress->shown)
        return;

    bool lost = sampled == progress->sampled_at;
    progress->sampled_at = sampled;
    progress->values = *values;
    progress->values.total =
        progress->total == SS_TIME_NEVER ? NAN : ss_time_seconds(progress->total);
    if (lost)
        progress->values.target = progress->values.load = progress->values.duty = NAN;

    ss_progress_remember(&progress->history, progress->values.target, progress->values.load);
    progress->stale = true;
    if (!progress->has_cursor)
        print_plain(progress);
}

static ss_time find_drawing_due(const struct ss_progress *progress) {
    if (!progress->shown || !progress->has_cursor || !progress->stale)
        return SS_TIME_NEVER;
    return progress->drawn_at ? ss_time_add(progress->drawn_at, SS_PROGRESS_INTERVAL) : 0;
}

ss_time ss_progress_due(const struct ss_progress *progress) {
    ss_time drawing = find_drawing_due(progress);
    ss_time rest = progress->rest_length > 0 ? progress->retry_at : SS_TIME_NEVER;
    return drawing < rest ? drawing : rest;
}

static int find_width(int *height) {
    int width;
    ss_screen_size(STDERR_FILENO, &width, height);
    return width < WIDTH_MAX ? width : WIDTH_MAX;
}

/* Removes the block and releases its rows. Returns false if the block is still there. */
static bool release(struct ss_progress *progress) {
    if (progress->rows == 0)
        return true;
    ss_screen_continue(STDERR_FILENO);
    if (!has_room(progress))
        return false;
    write_out(progress, SS_SCREEN_RELEASE, sizeof SS_SCREEN_RELEASE - 1);
    progress->rows = 0;
    atomic_store(progress->view_rows, 0);
    return true;
}

/* Makes rows below the cursor's line, which moves up if the window is full. */
static char *make_room(char *to, int rows) {
    for (int i = 0; i < rows; i++)
        to = stpcpy(to, LINE_DOWN);
    return to + sprintf(to, "\033[%dA", rows);
}

/*
 * Writes the block. Sets the scroll region each time in case it was reset; this moves the cursor.
 * Erases rows before writing them, because after a full row the cursor is still on its last column.
 */
static char *put_block(char *to, const char *block, int rows, int height) {
    int top = height - rows;
    to += sprintf(to, SS_SCREEN_SAVE SS_SCREEN_PLAIN "\033[1;%dr", top);

    for (int row = 1; row <= rows; row++) {
        size_t length = strcspn(block, "\n");
        to += sprintf(to, "\033[%d;1H" ERASE_ROW, top + row);
        to = mempcpy(to, block, length);
        block += length + 1;
    }
    return stpcpy(to, SS_SCREEN_RESTORE);
}

static void draw(struct ss_progress *progress) {
    char block[SS_PROGRESS_TEXT_SIZE];
    char text[SS_PROGRESS_TEXT_SIZE + 512];
    char *to = text;
    int height;
    int width = find_width(&height);
    struct ss_progress_picture picture = {
        .values = progress->values,
        .history = &progress->history,
        .width = width,
        .height = height,
        .unicode = progress->unicode,
        .color = progress->color,
    };

    int rows = ss_progress_draw(block, sizeof block, &picture);
    bool same = rows == progress->rows && width == progress->width && height == progress->height;
    if (!same && (!release(progress) || !has_room(progress)))
        return;
    if (rows > height - SCROLLED_MIN || rows == 0)
        return;

    if (!same)
        to = make_room(to, rows);
    to = put_block(to, block, rows, height);

    progress->rows = rows;
    progress->width = width;
    progress->height = height;
    atomic_store(progress->view_rows, (uint32_t)rows);
    write_out(progress, text, (size_t)(to - text));
}

void ss_progress_draw_due(struct ss_progress *progress, ss_time now) {
    if (now < ss_progress_due(progress))
        return;

    progress->retry_at = ss_time_add(now, SS_PROGRESS_INTERVAL);
    write_rest(progress);
    if (now < find_drawing_due(progress))
        return;

    /* A failed attempt counts, too: a terminal without room must not be retried all the time. */
    progress->drawn_at = now;
    if (progress->foreground_only && is_in_background()) {
        release(progress);
        progress->stale = false;
        return;
    }

    if (!has_room(progress))
        return;
    progress->stale = false;
    draw(progress);
}

void ss_progress_hide(struct ss_progress *progress) {
    if (progress->rows > 0 && release(progress))
        progress->stale = true;
}

void ss_progress_resize(struct ss_progress *progress) {
    if (!progress->drawn_at)
        return;
    progress->stale = true;
    /* Draw at once: the terminal may have lost its scroll region. */
    progress->drawn_at = ss_time_since(progress->drawn_at, SS_PROGRESS_INTERVAL);
}

/*
 * Moves to the beginning of a line. The terminal may have echoed ^C, or an instance may have
 * written part of a line; neither can be detected. A full row of blanks leaves the cursor in the
 * same row only if it was at the beginning.
 */
static size_t put_blanks(char text[BLANKS_MAX]) {
    int height;
    return (size_t)sprintf(text, "%*s\r", find_width(&height), "");
}

void ss_progress_print_line(struct ss_progress *progress, const char *format, va_list arguments) {
    char text[BLANKS_MAX + MESSAGE_MAX];
    if (!has_room(progress))
        return;
    size_t length = progress->rows > 0 ? put_blanks(text) : 0;
    length += (size_t)sprintf(text + length, "showstopper: ");
    size_t room = sizeof text - length - 1; /* one byte for the end of the line */
    size_t needed = (size_t)vsnprintf(text + length, room, format, arguments);
    length += needed < room ? needed : room - 1;
    text[length++] = '\n';
    write_out(progress, text, length);
}

void ss_progress_print_if_shown(struct ss_progress *progress, const char *format, ...) {
    if (!progress->shown || (progress->foreground_only && is_in_background()))
        return;
    va_list arguments;
    va_start(arguments, format);
    ss_progress_print_line(progress, format, arguments);
    va_end(arguments);
}

/*
 * Returns whether the block was ever drawn and the terminal is still ours. Even if the block is
 * hidden now, a key may have been echoed in the cursor's line.
 */
static bool was_used(const struct ss_progress *progress) {
    return progress->has_cursor && progress->drawn_at &&
           !(progress->foreground_only && is_in_background());
}

void ss_progress_finish(struct ss_progress *progress) {
    char text[BLANKS_MAX];
    release(progress);
    if (was_used(progress) && has_room(progress))
        write_out(progress, text, put_blanks(text));
    progress->shown = false;
}

/* Writes the text, waiting for room. Returns false on failure. */
static bool wait_and_write(const char *text, size_t length) {
    return ss_streams_write_all(STDERR_FILENO, text, length);
}

/* Writes what ss_progress_finish() had no room for, and starts a new line. */
static bool write_pending(const struct ss_progress *progress) {
    char blanks[BLANKS_MAX];
    if (!wait_and_write(progress->rest, progress->rest_length))
        return false;
    if (!was_used(progress))
        return true;
    return (progress->rows == 0 ||
               wait_and_write(SS_SCREEN_RELEASE, sizeof SS_SCREEN_RELEASE - 1)) &&
           wait_and_write(blanks, put_blanks(blanks));
}

void ss_progress_close(struct ss_progress *progress) {
    if (progress->summary_follows)
        write_pending(progress);
    if (progress->file > 0)
        close(progress->file);
    progress->file = 0;
    progress->rest_length = 0;
}
