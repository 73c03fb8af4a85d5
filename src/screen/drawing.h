/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SCREEN_DRAWING_H
#define SHOWSTOPPER_SCREEN_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

/* One minute at two samples per second. */
#define SS_PROGRESS_HISTORY 120

/* The maximum height of the block: the line of values, four rows of the plot, and its axis. */
#define SS_PROGRESS_ROWS 6

/* Size of a buffer for the widest block in color. */
#define SS_PROGRESS_TEXT_SIZE 32768

/* The current values. Loads, targets and duties are from 0 to 1, NaN if unknown or absent. */
struct ss_progress_values {
    double elapsed; /* seconds under control; negative before control begins */
    double total;   /* seconds under control in total; NaN for an open end */
    double target;
    double load;
    double error; /* mean of target minus load so far, in percent */
    double duty;
    double iterations; /* iterations per second */
    bool has_iterations;
    uint32_t instances;
    uint32_t ended; /* instances that ended by themselves */
    double others;  /* load of other processes, if the load misses the target because of them */
};

struct ss_progress_history {
    double loads[SS_PROGRESS_HISTORY]; /* sample i is at index i modulo the size */
    double targets[SS_PROGRESS_HISTORY];
    uint64_t count; /* number of samples so far */
};

struct ss_progress_picture {
    struct ss_progress_values values;
    const struct ss_progress_history *history;
    int width; /* width of the window, in columns */
    int height;
    bool unicode; /* false: ASCII */
    bool color;
};

void ss_progress_remember(struct ss_progress_history *history, double target, double load);

/* Prints the longest line of values that fits into `width` columns, zero-terminated. */
SS_WRITES(1, 2)
void ss_progress_print_values(
    char *buffer, size_t size, const struct ss_progress_values *values, int width);

/*
 * Prints the block as zero-terminated text: rows separated by line feeds, none wider than the
 * window, and fewer rows than the window has. Returns the number of rows.
 */
SS_WRITES(1, 2)
int ss_progress_draw(char *buffer, size_t size, const struct ss_progress_picture *picture);

#endif
