/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "output.h"
#include "screen.h"

#define PLAIN_SECONDS 10
#define WIDTH_MOST    1000

#define ERASE_ROW "\033[K" /* what is behind the cursor */
#define ERASE     "\033[J" /* and all rows below */
#define LINE_DOWN "\033D"  /* in the same column, and the screen moves up if need be */
#define SAVE      "\0337"  /* where the cursor is */
#define RESTORE   "\0338"

/*
 * All that hangs below the cursor. Not just by ERASE: in the upper left corner some terminals take
 * that for a wish to keep what is erased.
 */
#define WIPE ERASE_ROW LINE_DOWN "\033[1A" SAVE "\r\n" ERASE RESTORE

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value;
}

static bool can_move_cursor(void) {
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

static bool are_same_terminal(int one, int other) {
    struct stat first;
    struct stat second;
    return isatty(one) && fstat(one, &first) == 0 && fstat(other, &second) == 0 &&
           first.st_rdev == second.st_rdev;
}

void ss_progress_open(struct ss_progress *progress, int when, bool quiet, ss_time total) {
    *progress = (struct ss_progress){
        .shown = when == SS_PROGRESS_ALWAYS ||
                 (when == SS_PROGRESS_AUTO && isatty(STDERR_FILENO) && !quiet),
        .terminal = can_move_cursor(),
        .foreground_only = when == SS_PROGRESS_AUTO,
        .output_too = are_same_terminal(STDOUT_FILENO, STDERR_FILENO),
        .summary_follows = !quiet,
        .unicode = ss_screen_is_unicode(),
        .colour = !is_set("NO_COLOR"),
        .total = total,
    };
}

/* In a PID namespace of our own the foreground has no number: it is drawn then. */
static bool is_in_background(void) {
    pid_t group = tcgetpgrp(STDERR_FILENO);
    return group > 0 && group != getpgrp();
}

/* Nobody is told if it cannot be written: it is of no use to the run. */
static void write_out(const char *text, size_t length) {
    ssize_t written = write(STDERR_FILENO, text, length);
    (void)written;
}

static void print_plain(struct ss_progress *progress) {
    char line[512];
    char text[600];
    const struct ss_progress_values *values = &progress->values;
    if (values->elapsed < progress->next_plain || !ss_output_has_room(STDERR_FILENO))
        return;
    progress->next_plain = (floor(values->elapsed / PLAIN_SECONDS) + 1) * PLAIN_SECONDS;
    ss_progress_print_values(line, sizeof line, values, (int)sizeof line);
    int length = snprintf(text, sizeof text, "showstopper: %s\n", line);
    write_out(text, (size_t)length);
}

void ss_progress_note(
    struct ss_progress *progress, ss_time sampled, const struct ss_progress_values *values) {
    if (!progress->shown)
        return;
    bool lost = sampled == progress->sampled;
    progress->sampled = sampled;
    progress->values = *values;
    progress->values.total =
        progress->total == SS_TIME_NEVER ? NAN : ss_time_seconds(progress->total);
    if (lost)
        progress->values.target = progress->values.load = progress->values.duty = NAN;
    ss_progress_remember(&progress->history, progress->values.target, progress->values.load);
    progress->stale = true;
    if (!progress->terminal)
        print_plain(progress);
}

ss_time ss_progress_due(const struct ss_progress *progress) {
    if (!progress->shown || !progress->terminal || !progress->stale)
        return SS_TIME_NEVER;
    return progress->drawn_at ? ss_time_add(progress->drawn_at, SS_PROGRESS_INTERVAL) : 0;
}

static int find_width(int *height) {
    int width;
    ss_screen_size(STDERR_FILENO, &width, height);
    return width < WIDTH_MOST ? width : WIDTH_MOST;
}

/* In one write, so that nobody sees half of it. */
static void draw(struct ss_progress *progress) {
    char block[SS_PROGRESS_TEXT];
    char text[SS_PROGRESS_TEXT + 128];
    int height;
    int width = find_width(&height);
    struct ss_progress_picture picture = {
        .values = progress->values,
        .history = &progress->history,
        .width = width,
        .height = height,
        .unicode = progress->unicode,
        .colour = progress->colour,
    };
    int rows = ss_progress_draw(block, sizeof block, &picture);
    char *to = stpcpy(text, rows > 0 ? ERASE_ROW : progress->drawn ? WIPE : "");
    /* Room below is made first: the screen must not move between saving the cursor and restoring.
     */
    for (int i = 0; i < rows; i++)
        to = stpcpy(to, LINE_DOWN);
    if (rows > 0)
        to += sprintf(to, "\033[%dA" SAVE, rows);
    const char *row = block;
    for (int i = 0; i < rows; i++) {
        size_t length = strcspn(row, "\n");
        to = stpcpy(to, i == 0 ? "\r\n" ERASE : "\r\n"); /* a terminal made raw needs both */
        to = mempcpy(to, row, length);
        row += length + 1;
    }
    if (rows > 0)
        to = stpcpy(to, RESTORE);
    write_out(text, (size_t)(to - text));
    progress->drawn = rows > 0;
}

void ss_progress_draw_due(struct ss_progress *progress, ss_time now) {
    if (now < ss_progress_due(progress))
        return;
    /* Tried is enough: who cannot be written to is not asked all the time. */
    progress->drawn_at = now;
    if (progress->foreground_only && is_in_background()) {
        progress->drawn = false; /* what is below the shell's prompt is no longer ours */
        progress->stale = false;
        return;
    }
    if (!ss_output_has_room(STDERR_FILENO))
        return;
    progress->stale = false;
    draw(progress);
}

void ss_progress_hide(struct ss_progress *progress) {
    if (!progress->drawn || !ss_output_has_room(STDERR_FILENO))
        return;
    write_out(WIPE, strlen(WIPE));
    progress->drawn = false;
    progress->stale = true;
}

void ss_progress_make_way(struct ss_progress *progress, int file) {
    if (file == STDERR_FILENO || (file == STDOUT_FILENO && progress->output_too))
        ss_progress_hide(progress);
}

/*
 * The terminal may have written ^C, or an instance half a line, and nobody can tell us. A whole
 * row of blanks leaves the cursor in the row where it was only if that was at its begin.
 */
static void wipe_to_line(struct ss_progress *progress) {
    char text[WIDTH_MOST + 64];
    int height;
    int length = sprintf(text, WIPE "%*s\r", find_width(&height), "");
    write_out(text, (size_t)length);
    progress->drawn = false;
    progress->stale = true;
}

void ss_progress_give_line(struct ss_progress *progress) {
    if (progress->drawn && ss_output_has_room(STDERR_FILENO))
        wipe_to_line(progress);
}

void ss_progress_print(struct ss_progress *progress, const char *format, ...) {
    if (!progress->shown || (progress->foreground_only && is_in_background()) ||
        !ss_output_has_room(STDERR_FILENO))
        return;
    ss_progress_give_line(progress);
    va_list arguments;
    va_start(arguments, format);
    fputs("showstopper: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

/* A key may have been echoed in the line of the cursor whether or not a block hangs below it now.
 */
static bool was_used(const struct ss_progress *progress) {
    return progress->terminal && progress->drawn_at &&
           !(progress->foreground_only && is_in_background());
}

void ss_progress_finish(struct ss_progress *progress) {
    if (was_used(progress) && ss_output_has_room(STDERR_FILENO))
        wipe_to_line(progress);
    progress->shown = false;
}

void ss_progress_close(struct ss_progress *progress) {
    if (was_used(progress) && (progress->summary_follows || ss_output_has_room(STDERR_FILENO)))
        wipe_to_line(progress);
    progress->shown = false;
}
