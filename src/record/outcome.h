/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_OUTCOME_H
#define SHOWSTOPPER_RECORD_OUTCOME_H

#include <stdint.h>

#include "command/plan.h"
#include "measure/iterations.h"
#include "measure/monitor.h"
#include "measure/usage.h"
#include "record/ends.h"
#include "record/folder.h"

#define SS_WARNINGS_MAX 16

/* The mean error was larger than --tolerance allows. */
#define SS_STATUS_TOLERANCE 3

/* How long iterations took, in seconds. NaN: not known. */
struct ss_iteration_times {
    double mean;
    double deviation; /* of a sample: n - 1 */
    double median;
    double p95;
    double p99;
};

/* Iterations of one instance, or of all that run one command. */
struct ss_iteration_outcome {
    uint64_t ended;
    double per_second;
    struct ss_iteration_times times; /* of one instance: the mean alone */
};

/* What came out of a run: all that the summary says. NaN: not known. */
struct ss_outcome {
    int status;           /* exit status */
    int signal;           /* that ended the run, to be raised once all is clean; 0: none */
    const char *ended_by; /* duration, trace, workloads, failure, signal, error */
    double duration_seconds;
    uint64_t samples;
    double target_mean;
    double load_mean;
    double error_mean_percent;
    double error_mse_e4;
    double error_p95_percent;
    double settling_seconds;
    double duty_mean;
    double switches_per_second;
    double iterations;
    double iterations_per_second;
    struct ss_iteration_times iteration_times;
    struct ss_iteration_outcome *of_lines;     /* of each command; NULL: not counted */
    struct ss_iteration_outcome *of_instances; /* likewise */
    struct ss_throughput throughput;
    size_t throughput_count; /* whole intervals */
    struct ss_ends ends;     /* of instances, by themselves */
    double own_cpu;
    double wake_p50_us;
    double wake_p99_us;
    double wake_max_us;
    char warnings[SS_WARNINGS_MAX][256];
    int warning_count;
    uint64_t iterations_left;       /* that iterations.csv lacks */
    struct ss_record_folder record; /* waits for its summary */
};

/* Nothing is known yet. */
void ss_outcome_open(struct ss_outcome *outcome);

void ss_outcome_close(struct ss_outcome *outcome);

/* Warns where Showstopper's own CPU time is so much that the figures are partly its own. */
void ss_outcome_warn_of_own(struct ss_outcome *outcome);

__attribute__((format(printf, 2, 3))) void ss_outcome_warn(
    struct ss_outcome *outcome, const char *format, ...);

/*
 * Takes all figures but those of iterations, at the moment when control ends. `own` is the CPU time
 * that executors and guardian used, `switches` the signals that were sent, both while counted.
 */
void ss_outcome_take(struct ss_outcome *outcome, const struct ss_plan *plan,
    const struct ss_board *board, struct ss_monitor *monitor, const struct ss_usage *usage,
    ss_time own, uint64_t switches, ss_time now);

/*
 * When no more iterations can come: one that ends after the counted time has a part in it, too.
 * Takes over their throughput.
 */
void ss_outcome_take_iterations(
    struct ss_outcome *outcome, const struct ss_plan *plan, struct ss_iterations *iterations);

#endif
