/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_STEPS_H
#define RECORD_STEPS_H

/* Stretches of constant target in a record and their figures, and rates of iterations. */

#include "record.h"
#include "statistics.h"

/*
 * Iterations per interval, in consecutive intervals of equal length. An iteration that spans
 * several intervals counts in each for its part of the time there; parts outside of all intervals
 * do not count.
 */
struct ssreport_rates {
    double from, interval; /* seconds */
    size_t count;          /* number of complete intervals */
    double *parts;         /* sum of the parts of iterations in each interval */
    double *lengths;       /* sum of the lengths of the iterations that overlap each interval, in
                              seconds */
    size_t *overlaps;      /* number of these iterations */
};

/* Divides the time between `from` and `to` into intervals. Returns -1 if memory is exhausted. */
int ssreport_rates_open(struct ssreport_rates *rates, double from, double to, double interval);

void ssreport_rates_add(struct ssreport_rates *rates, double start, double end);

/*
 * Converts parts to iterations per second, and sums of lengths to means; the mean of an interval
 * without iterations is NaN.
 */
void ssreport_rates_divide(struct ssreport_rates *rates);

void ssreport_rates_close(struct ssreport_rates *rates);

/* Value of `edge` that means the default: a sixth of the step, at most 30 s. */
#define SSREPORT_EDGE_DEFAULT (-1.0)

struct ssreport_settings {
    double edge;       /* seconds excluded at both ends of a step, or SSREPORT_EDGE_DEFAULT */
    double interval;   /* length of the intervals of throughput, in seconds */
    double confidence; /* confidence level of intervals, such as 0.95 */
    double deviation;  /* tolerated difference of a replay's throughput, 0 to 1 */
};

struct ssreport_step {
    double begin, end; /* the whole step, in seconds */
    size_t first;      /* index of the first sample */
    double from, to;   /* the counted time: from the start of the first counted sample to the end of
                          the last */
    double target;
    int half; /* 1 or 2 in a staircase that turns once; 1 without a turn; 0 if not a staircase */
    struct ssreport_mean load; /* loads of the counted samples */
    double error_mean_percent, error_mse_e4;
    double throughput;          /* iterations per second; NaN if unknown */
    double throughput_bound;    /* upper bound if no iteration ended, otherwise NaN */
    struct ssreport_mean rates; /* throughput in each complete interval, for the scatter */
    bool is_exceeded;           /* iterations take longer than the counted time */
    bool is_invalid;            /* of an invalid record, in a pool of several */
};

struct ssreport_steps {
    struct ssreport_step *items;
    size_t count, capacity;
    size_t too_short; /* number of stretches with fewer than three samples, or with none between
                         the edges */
};

/*
 * Finds the steps: maximal stretches of counted samples with the same target. The step at which a
 * staircase turns is split in two if it is longer than 1.5 times the median of the others, because
 * it then holds its level twice. Returns -1 if memory is exhausted.
 */
int ssreport_steps_find(struct ssreport_steps *steps, const struct ssreport_record *record,
    const struct ssreport_settings *settings);

void ssreport_steps_free(struct ssreport_steps *steps);

/*
 * Returns "up" or "down" for a half of a staircase; "" if its targets are all equal or it has no
 * steps.
 */
SS_NONNULL(1) const char *ssreport_steps_direction(const struct ssreport_steps *steps, int half);

/* Returns how often the level of a step was held in its half, up to and including this step. */
size_t ssreport_steps_occurrence(const struct ssreport_steps *steps, size_t at);

/* Returns the step of the same level, half and occurrence in another run; NULL if absent. */
const struct ssreport_step *ssreport_steps_counterpart(
    const struct ssreport_steps *steps, size_t at, const struct ssreport_steps *of);

/*
 * Counts iterations per second of all instances in equal intervals between two times. Without
 * counted iterations there are no intervals. Returns -1 if memory is exhausted.
 */
int ssreport_steps_rates(struct ssreport_rates *rates, const struct ssreport_record *record,
    double from, double to, double interval);

/* Returns the iterations per second between two times; NaN if unknown. */
double ssreport_steps_throughput(const struct ssreport_record *record, double from, double to);

/*
 * Returns an upper bound of the throughput if no iteration ended in that time, because each
 * instance may have been about to end one. Returns NaN otherwise, and if iterations were not
 * counted.
 */
double ssreport_steps_bound(const struct ssreport_record *record, double from, double to);

#endif
