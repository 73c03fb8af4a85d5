/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_ITERATIONS_H
#define SHOWSTOPPER_MEASURE_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/time.h>

#include "measure/lengths.h"
#include "measure/throughput.h"

/* Time in which the run stood still. */
struct ss_pause {
    ss_time begin, length;
};

/* Those of one instance in the window. */
struct ss_iteration_share {
    uint64_t ended;
    double parts;
    double seconds; /* that those which ended took, together */
};

/* Counts iterations in a window of time that may still be open. */
struct ss_iterations {
    ss_time from; /* SS_TIME_NEVER: nothing is counted yet */
    ss_time to;
    uint64_t seen;  /* all, whenever they ended */
    uint64_t ended; /* in the window */
    double parts;   /* parts of iterations that lie in the window: each whole one adds 1 */
    struct ss_lengths lengths;         /* of those that ended in the window */
    struct ss_iteration_share *shares; /* of each instance; NULL: they are not kept apart */
    uint32_t *line_of;                 /* likewise: the command that it runs ... */
    struct ss_lengths *line_lengths;   /* ... and how long the iterations of each command took */
    uint32_t line_count;
    struct ss_throughput throughput; /* since the window's beginning */
    struct ss_pause *pauses;         /* in order */
    size_t pause_count;

    /* Called with each iteration that counts; may be NULL. */
    void (*tell)(void *context, uint32_t instance, ss_time start, ss_time end);
    void *context;
};

/*
 * From now on instances and commands are kept apart. `line_of` is the caller's to fill in.
 * 0, or -1: no memory.
 */
int ss_iterations_keep_apart(
    struct ss_iterations *iterations, uint32_t instances, uint32_t line_count);

void ss_iterations_add(
    struct ss_iterations *iterations, uint32_t instance, ss_time start, ss_time end);

/*
 * The run stood still from `begin` on. That time is no part of the window, nor of an iteration that
 * was under way: all that was before moves up to its end.
 */
void ss_iterations_pause(struct ss_iterations *iterations, ss_time begin, ss_time length);

/* Per second of the window that ends at `now` or has ended before; NaN: no window yet. */
double ss_iterations_per_second(const struct ss_iterations *iterations, ss_time now);

void ss_iterations_free(struct ss_iterations *iterations);

#endif
