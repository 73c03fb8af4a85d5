/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_ITERATIONS_H
#define SHOWSTOPPER_MEASURE_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "base/histogram.h"
#include "measure/throughput.h"

/* Time in which the run stood still. */
struct ss_pause {
    ss_time begin, length;
};

/* Iterations of one instance in the window. */
struct ss_iteration_share {
    uint64_t ended;
    double parts;
    double seconds; /* sum of the lengths of those that ended */
    double squares; /* sum of the squared differences between these lengths and their mean */
    ss_time since;  /* when the last iteration ended or the first began; SS_TIME_NEVER: unknown */
    ss_time last;   /* length of the last iteration, in the window or before */
    ss_time burst_from;  /* first end after a silence; the ends that follow soon are a burst ... */
    uint32_t burst_size; /* ... of this many, or 0: it is over */
    uint64_t in_bursts;  /* iterations that ended in bursts, in the window */
    bool begun;          /* some iteration has ended, in the window or before */
    bool over;           /* the instance has ended by itself */
    uint64_t gap_count; /* pairs of successive iterations of which the second ended in the window */
    double gaps; /* seconds from the end of the first to the start of the second, summed up */
};

/* Iterations per second of one or all instances in the window. */
struct ss_iteration_rate {
    double per_second; /* with the estimated parts; NaN: no iteration was seen */
    double
        uncertainty;  /* standard deviation, as far as it is due to the estimates; NaN: likewise */
    double estimated; /* parts of iterations that were under way at the end */
    double bound;     /* what `per_second` can be at most if no iteration was seen; else NaN */
};

/* Iteration times in seconds. NaN: unknown. */
struct ss_iteration_times {
    double mean;
    double deviation; /* sample standard deviation (n - 1) */
    double median;    /* this and the percentiles: the middle of a bucket of a histogram */
    double p95;
    double p99;
};

/* An iteration that has ended. */
struct ss_iteration {
    uint32_t instance;
    uint32_t line; /* its command */
    ss_time start, end;
    ss_time length; /* without pauses */
    bool counted;   /* it ended in the window */
};

/* Counts iterations in a window of time that may still be open. */
struct ss_iterations {
    ss_time from; /* SS_TIME_NEVER: nothing is counted yet */
    ss_time to;
    uint64_t seen;  /* all, whenever they ended */
    uint64_t ended; /* in the window */
    double parts;   /* parts of iterations that lie in the window: each whole one adds 1 */
    struct ss_iteration_share *shares; /* of each instance; NULL: they are not kept apart */
    uint32_t instances;
    uint32_t *line_of;            /* likewise: the command that it runs ... */
    struct ss_histogram *lengths; /* ... and iterations of each command that ended in the window */
    uint32_t line_count;
    struct ss_throughput throughput; /* since the window's beginning */
    struct ss_pause *pauses;         /* in order */
    size_t pause_count, pause_room;
    uint64_t unmatched; /* lines of output that did not match ... */
    char example[96];   /* ... and the first of them */

    /* Called with each iteration; may be NULL. */
    void (*tell)(void *context, const struct ss_iteration *iteration);
    void *context;
};

/*
 * From now on instances and commands are kept apart, in memory of fixed size: a histogram for each
 * command. `line_of` is the caller's to fill in. 0, or -1: no memory.
 */
int ss_iterations_keep_apart(
    struct ss_iterations *iterations, uint32_t instances, uint32_t line_count);

/*
 * An instance begins its first iteration. Each further one begins when the one before it ends.
 * These two do nothing unless instances are kept apart.
 */
void ss_iterations_start(struct ss_iterations *iterations, uint32_t instance, ss_time now);

/* An instance has ended by itself; no iteration of it is under way at the end of the window. */
void ss_iterations_stop(struct ss_iterations *iterations, uint32_t instance);

/* Allocates nothing, except when the intervals of throughput have doubled. */
void ss_iterations_add(
    struct ss_iterations *iterations, uint32_t instance, ss_time start, ss_time end);

/* Adds iterations that ended since the last one, at unknown times, evenly spread up to `now`. */
void ss_iterations_add_evenly(
    struct ss_iterations *iterations, uint32_t instance, uint32_t count, ss_time now);

/*
 * The ends of so many iterations, which are added next, were read at `now`, when the instance had
 * this duty. Ends that are read within SS_BURST_LENGTH after SS_BURST_SILENCE without any are a
 * burst if they are two or more: the program buffers its output, and when they ended is unknown.
 * A program that is stopped for long prints as much when it runs again, so it must have run for
 * SS_BURST_RUNNING of that silence.
 */
#define SS_BURST_SILENCE (250 * SS_MILLISECOND)
#define SS_BURST_RUNNING (100 * SS_MILLISECOND)
#define SS_BURST_LENGTH  (5 * SS_MILLISECOND)
void ss_iterations_read(
    struct ss_iterations *iterations, uint32_t instance, uint32_t count, ss_time now, double duty);

/* How many iterations of `count` instances from `first` on ended in bursts. */
uint64_t ss_iterations_in_bursts(
    const struct ss_iterations *iterations, uint32_t first, uint32_t count);

/* A line of output did not match. */
void ss_iterations_mismatch(struct ss_iterations *iterations, const char *line);

/*
 * The run stood still from `begin` on. That time is no part of the window, nor of an iteration that
 * was under way: all that was before moves up to its end.
 */
void ss_iterations_pause(struct ss_iterations *iterations, ss_time begin, ss_time length);

/* False: no window yet, or `now` is not after its beginning. */
bool ss_iterations_are_counted(const struct ss_iterations *iterations, ss_time now);

/* Covers the window up to `now` or its end. All NaN: no window yet. */
struct ss_iteration_rate ss_iterations_rate(const struct ss_iterations *iterations, ss_time now);

/* The same of `count` instances from `first` on, which must be kept apart. */
struct ss_iteration_rate ss_iterations_rate_of(
    const struct ss_iterations *iterations, uint32_t first, uint32_t count, ss_time now);

/* Of `count` commands from `first` on, which must be kept apart. */
SS_NONNULL()
struct ss_iteration_times ss_iterations_times(
    const struct ss_iterations *iterations, uint32_t first, uint32_t count);

/* The window has ended: adds iterations that are under way to the intervals of throughput. */
void ss_iterations_finish(struct ss_iterations *iterations);

void ss_iterations_free(struct ss_iterations *iterations);

#endif
