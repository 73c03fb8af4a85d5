/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SCREEN_DRAWING_H
#define SHOWSTOPPER_SCREEN_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The last minute, at two samples a second. */
#define SS_PROGRESS_HISTORY 120

/* Rows of the block at most: the line of values, four of the drawing and its axis. */
#define SS_PROGRESS_ROWS 6

/* Enough for all rows of the widest block in colour. */
#define SS_PROGRESS_TEXT 32768

/* What is known now. Loads, targets and duties are from 0 to 1; NaN: not known, or there is none.
 */
struct ss_progress_values {
    double elapsed; /* seconds of control; negative: it has not begun */
    double total;   /* seconds of control; NaN: open */
    double target;
    double load;
    double error; /* mean of target minus load so far, in percent */
    double duty;
    double iterations; /* per second */
    bool has_iterations;
    uint32_t instances;
    uint32_t ended; /* of them, by themselves */
};

struct ss_progress_history {
    double loads[SS_PROGRESS_HISTORY]; /* sample i is at i modulo the size */
    double targets[SS_PROGRESS_HISTORY];
    uint64_t count; /* ever remembered */
};

struct ss_progress_picture {
    struct ss_progress_values values;
    const struct ss_progress_history *history;
    int width; /* of the window, in columns */
    int height;
    bool unicode; /* otherwise ASCII */
    bool colour;
};

void ss_progress_remember(struct ss_progress_history *history, double target, double load);

/* The line of values that fits best, ended by a zero byte; never more letters than `width`. */
void ss_progress_print_values(
    char *buffer, size_t size, const struct ss_progress_values *values, int width);

/*
 * The block as text, ended by a zero byte: rows that are separated by line feeds, none of them
 * wider than the window, and one fewer than the window has at most. Returns their number.
 */
int ss_progress_draw(char *buffer, size_t size, const struct ss_progress_picture *picture);

#endif
