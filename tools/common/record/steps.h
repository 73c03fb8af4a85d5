/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_STEPS_H
#define SSREPORT_STEPS_H

/* Stretches of constant target in a record, and what was seen in each. */

#include "rates.h"
#include "record.h"
#include "statistics.h"

/* Instead of an edge: a sixth of the step, at most 30 s. */
#define SSREPORT_EDGE_DEFAULT (-1.0)

struct ssreport_settings {
    double edge;       /* seconds left out at both ends of a step; or SSREPORT_EDGE_DEFAULT */
    double interval;   /* seconds, of throughput */
    double confidence; /* as in 0.95 */
    double deviation;  /* part of 1 by which a replay's throughput may be another one */
};

struct ssreport_step {
    double begin, end; /* seconds; all of it */
    size_t first;      /* sample that lies in it */
    double from, to;   /* what counts of it: from one sample to another */
    double target;
    int half; /* of a staircase that turns once: 1 or 2; of one that does not: 1; 0: no staircase */
    struct ssreport_mean load; /* of the samples that lie in what counts */
    double error_mean_percent, error_mse_e4;
    double throughput;          /* iterations per second; NaN: not counted, or none in it */
    double throughput_bound;    /* its maximum if no iteration ended; else NaN */
    struct ssreport_mean rates; /* of the whole intervals in it, which give its scatter */
    bool is_exceeded;           /* its iterations take longer than what counts of it */
};

struct ssreport_steps {
    struct ssreport_step *items;
    size_t count;
    size_t too_short; /* stretches of fewer than three samples, or with none but in the edges */
};

/*
 * A step is a longest stretch of counted samples with one target. The one at which a staircase
 * turns holds its level twice where it is half as long again as others, and is then cut in two.
 * -1: no memory.
 */
int ssreport_steps_find(struct ssreport_steps *steps, const struct ssreport_record *record,
    const struct ssreport_settings *settings);

void ssreport_steps_free(struct ssreport_steps *steps);

/* The n-th time, from 1, that its level is held in its half. */
size_t ssreport_steps_occurrence(const struct ssreport_steps *steps, size_t at);

/* The step of the same level, half and occurrence in another run; NULL: there is none. */
const struct ssreport_step *ssreport_steps_counterpart(
    const struct ssreport_steps *steps, size_t at, const struct ssreport_steps *of);

/*
 * Iterations per second of all instances in equal intervals between two times; none where they were
 * not counted. -1: no memory.
 */
int ssreport_steps_rates(struct ssreport_rates *rates, const struct ssreport_record *record,
    double from, double to, double interval);

/* The same of all that time; NaN if iterations were not counted, or none is in it. */
double ssreport_steps_throughput(const struct ssreport_record *record, double from, double to);

/* The most that the throughput can be if no iteration is in that time: each instance may have been
 * about to end one. NaN if there is one, or they were not counted. */
double ssreport_steps_bound(const struct ssreport_record *record, double from, double to);

/* Mean length of the iterations that lie at least partly between two times; NaN: no iteration. */
double ssreport_steps_iteration(const struct ssreport_record *record, double from, double to);

#endif
