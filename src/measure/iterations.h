/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_ITERATIONS_H
#define SHOWSTOPPER_MEASURE_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

#include "base/histogram.h"
#include "measure/throughput.h"
#include "verdict/windows.h"

/* Time for which the run was paused. */
struct ss_pause {
    ss_time begin, length;
};

#define SS_SHARE_CELLS 16

/* Iterations of one instance in the window. */
struct ss_iteration_share {
    uint64_t ended;
    double parts;
    double seconds; /* sum of the lengths of ended iterations */
    double squares; /* sum of the squared differences between the lengths and their mean */
    ss_time since;  /* end of the last iteration or start of the first; SS_TIME_NEVER if unknown */
    ss_time last;   /* length of the last iteration, in the window or before */
    ss_time burst_from;             /* first end after a silence, which may begin a burst */
    uint32_t burst_size;            /* number of ends in this burst; 0 if it is over */
    uint64_t in_bursts;             /* iterations in the window that ended in bursts */
    bool begun;                     /* an iteration has ended, in the window or before */
    bool exited;                    /* the instance has exited by itself */
    uint32_t cells[SS_SHARE_CELLS]; /* iterations that ended in the window, by time */
    uint64_t gap_count; /* number of successive pairs whose second iteration ended in the window */
    double gap_sum;     /* sum of the times between both iterations of a pair, seconds */
};

/* Iterations per second of one or all instances in the window. */
struct ss_iteration_rate {
    double per_second;  /* includes estimated parts; NaN if no iteration was seen */
    double uncertainty; /* standard deviation due to the estimates; NaN if no iteration was seen */
    double estimated;   /* sum of the parts of iterations in progress at the end */
    double bound;       /* upper bound of `per_second` if no iteration was seen, otherwise NaN */
};

/* Iteration times in seconds; NaN if unknown. */
struct ss_iteration_times {
    double mean;
    double deviation; /* sample standard deviation (n - 1) */
    double median;    /* the median and the percentiles are the middle of a bucket of a histogram */
    double p95;
    double p99;
};

/* An iteration that has ended. */
struct ss_iteration {
    uint32_t instance;
    uint32_t line; /* index of the command */
    ss_time start, end;
    ss_time length; /* length without pauses */
    bool counted;   /* ended in the window */
};

/* Counts iterations in a window of time that may still be open. */
struct ss_iterations {
    ss_time from; /* SS_TIME_NEVER before counting */
    ss_time to;
    uint64_t seen;  /* number of all iterations */
    uint64_t ended; /* number that ended in the window */
    double parts;   /* parts of iterations in the window: a whole one adds 1 */
    /* Share of each instance; NULL if instances are not kept apart. */
    struct ss_iteration_share *shares;
    uint32_t instances;
    ss_time cell_width;           /* of the cells of shares; 0 before the first iteration */
    uint32_t *line_of;            /* command of each instance; NULL if they are not kept apart */
    struct ss_histogram *lengths; /* lengths of iterations in the window, by command */
    uint32_t line_count;
    struct ss_throughput throughput; /* iterations over time, since the start of the window */
    struct ss_windows parts_in_time; /* the same for the verdict, which can divide it into any
                                        number of windows */
    struct ss_pause *pauses;         /* in order of time */
    size_t pause_count, pause_room;
    uint64_t unmatched;         /* number of lines of output that did not match */
    char example[96];           /* the first such line */
    uint64_t unmatched_counted; /* number of unmatched lines that were read in the window */
    uint64_t untimed;           /* number of iterations whose line has no number for their time */
    char untimed_example[96];   /* the first text found instead of a number */

    /* Called with each iteration; may be NULL. */
    void (*on_add)(void *context, const struct ss_iteration *iteration);
    void *context;
};

/*
 * Keeps instances and commands apart from now on, in memory of fixed size: a histogram for each
 * command. The caller fills in `line_of`. Returns -1 if memory is exhausted.
 */
int ss_iterations_keep_apart(
    struct ss_iterations *iterations, uint32_t instances, uint32_t line_count);

/*
 * Reports that an instance begins its first iteration. Each further one begins when the previous
 * one ends. Does nothing unless instances are kept apart.
 */
void ss_iterations_start(struct ss_iterations *iterations, uint32_t instance, ss_time now);

/*
 * Reports that an instance has exited by itself, so it has no iteration in progress at the end of
 * the window. Does nothing unless instances are kept apart.
 */
void ss_iterations_stop(struct ss_iterations *iterations, uint32_t instance);

/*
 * Adds an iteration. Allocates nothing, except when the array of throughput intervals has to grow.
 */
void ss_iterations_add(
    struct ss_iterations *iterations, uint32_t instance, ss_time start, ss_time end);

/*
 * Adds iterations that ended at unknown times: spread evenly from the end of the previous one to
 * `now`, or, if instances are not kept apart, all at `now`.
 */
void ss_iterations_add_evenly(
    struct ss_iterations *iterations, uint32_t instance, uint32_t count, ss_time now);

/*
 * Reports that the ends of `count` iterations were read at `now`, when the instance had this duty.
 * Call this before adding them. Two or more ends are a burst if they are read within
 * SS_BURST_LENGTH after SS_BURST_SILENCE without any: the program buffers its output, so the times
 * of the ends are unknown. A program also prints a lot at once after a long stop, so it must have
 * run for SS_BURST_RUNNING of that silence. Time for which the reader was `late` is not silence.
 */
#define SS_BURST_SILENCE (250 * SS_MILLISECOND)
#define SS_BURST_RUNNING (100 * SS_MILLISECOND)
#define SS_BURST_LENGTH  (5 * SS_MILLISECOND)
void ss_iterations_report_read(struct ss_iterations *iterations, uint32_t instance, uint32_t count,
    ss_time now, ss_time late, double duty);

/*
 * Returns the number of iterations that ended in bursts in `count` instances starting with `first`.
 */
uint64_t ss_iterations_in_bursts(
    const struct ss_iterations *iterations, uint32_t first, uint32_t count);

/* Sets the start of the window. Call this before the first iteration is added. */
SS_NONNULL() void ss_iterations_count_from(struct ss_iterations *iterations, ss_time from);

/* Counts a line of output that was read at `now` and did not match. */
void ss_iterations_mismatch(struct ss_iterations *iterations, const char *line, ss_time now);

/* Counts an iteration whose line has this text instead of a time. It is added separately. */
void ss_iterations_untimed(struct ss_iterations *iterations, const char *text);

/*
 * Excludes a pause of the run from the window and from iterations in progress: times before it move
 * up by its length.
 */
void ss_iterations_pause(struct ss_iterations *iterations, ss_time begin, ss_time length);

/* Returns whether the window has begun before `now`. */
bool ss_iterations_are_counted(const struct ss_iterations *iterations, ss_time now);

/* Returns the rate in the window up to `now` or its end. All fields are NaN before the window. */
struct ss_iteration_rate ss_iterations_rate(const struct ss_iterations *iterations, ss_time now);

/* Returns the rate of `count` instances starting with `first`, which must be kept apart. */
struct ss_iteration_rate ss_iterations_rate_of(
    const struct ss_iterations *iterations, uint32_t first, uint32_t count, ss_time now);

/* Returns the times of `count` commands starting with `first`, which must be kept apart. */
SS_NONNULL()
struct ss_iteration_times ss_iterations_times(
    const struct ss_iterations *iterations, uint32_t first, uint32_t count);

/*
 * Finds the instance whose own rate explains most of a change after the fraction `at` of the
 * window. Returns false if no instance does, or if instances are not kept apart.
 */
SS_NONNULL()
bool ss_iterations_find_changed(
    const struct ss_iterations *iterations, double at, uint32_t *instance);

/*
 * Adds iterations in progress to the intervals of throughput. Call this at the end of the window.
 */
void ss_iterations_finish(struct ss_iterations *iterations);

void ss_iterations_free(struct ss_iterations *iterations);

#endif
