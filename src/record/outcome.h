/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_OUTCOME_H
#define SHOWSTOPPER_RECORD_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>

#include "command/plan.h"
#include "measure/iterations.h"
#include "measure/monitor.h"
#include "measure/usage.h"
#include "record/ends.h"
#include "record/folder.h"
#include "verdict/verdict.h"

/* Maximum number of warnings. One more entry says how many did not fit. */
#define SS_WARNINGS_MAX 16

/* Size of a warning, which may contain a path. Longer ones are truncated. */
#define SS_WARNING_SIZE 1024

/* The mean error exceeds --tolerance, or is unknown. */
#define SS_STATUS_TOLERANCE 3

/* Iterations of one instance or of one command. */
struct ss_iteration_outcome {
    uint64_t ended;
    struct ss_iteration_rate rate;
    struct ss_iteration_times times; /* for one instance: only the mean */
};

/* The result of a run: everything that the summary reports. NaN if unknown. */
struct ss_outcome {
    int status;           /* exit status */
    bool lost;            /* the isolated process died with the results: there is no summary */
    int signal;           /* the signal that ended the run, raised again after cleanup; 0 if none */
    const char *ended_by; /* "duration", "trace", "workloads", "failure", "signal" or "error" */
    double duration_seconds;
    uint64_t samples;
    double target_mean;
    bool target_varied; /* by more than 1 % while samples were counted */
    double load_mean;
    struct ss_capacity capacity;
    double capacity_changed_seconds; /* time of the latest change, since control began */
    double error_mean_percent;
    double error_mse_e4;
    double error_p95_percent;
    double settling_seconds;
    double duty_mean;
    double steal_mean; /* fraction of the CPU time that the hypervisor took */
    double switches_per_second;
    double iterations;
    struct ss_iteration_rate rate; /* rate of iterations */
    struct ss_iteration_times iteration_times;
    struct ss_iteration_outcome *per_command;  /* per command; NULL if not counted */
    struct ss_iteration_outcome *per_instance; /* per instance; points into `per_command` */
    struct ss_throughput throughput;
    size_t throughput_count; /* number of complete intervals */
    struct ss_ends ends;     /* instances that ended by themselves */
    double own_cpu;
    double wake_p50_us;
    double wake_p99_us;
    double wake_max_us;
    char warnings[SS_WARNINGS_MAX + 1][SS_WARNING_SIZE];
    int warning_count;
    int warnings_omitted;        /* number of warnings that the last one counts */
    double iterations_in_bursts; /* number of iterations whose lines arrived together after a
                                    silence; NaN if unknown */
    double lines_unmatched; /* lines in the counted time, if no line ever matched; NaN if unknown */
    bool held_back;         /* the load of other processes kept the instances stopped throughout */
    uint64_t iterations_omitted; /* number of iterations missing in iterations.csv */
    char loss[SS_WARNING_SIZE];  /* the first warning of output or lines of the record that could
                                    not be written, which fails the run; empty if all were */
    uint64_t lines_lost;         /* number of lines missing besides `iterations_omitted` */
    struct ss_evidence evidence;
    struct ss_verdict verdict;
    struct ss_record_folder record; /* remains open until the summary is written */
};

/* Sets all results to unknown, and how the run ended to "error" until something else is known. */
void ss_outcome_open(struct ss_outcome *outcome);

void ss_outcome_close(struct ss_outcome *outcome);

/* Warns if Showstopper's own CPU time is a significant part of the load. */
void ss_outcome_warn_of_own(struct ss_outcome *outcome);

SS_FORMAT(2, 3) void ss_outcome_warn(struct ss_outcome *outcome, const char *format, ...);

/* Warns of output or lines that could not be written, and keeps the first such warning. */
SS_FORMAT(2, 3) void ss_outcome_warn_of_loss(struct ss_outcome *outcome, const char *format, ...);

/*
 * Returns whether an instance has rounds, given the number of its stops and continues. Others are
 * stopped or continued only when control begins, or for a pause.
 */
static inline bool ss_has_rounds(uint64_t switches) {
    return switches > 2;
}

/* The input of ss_outcome_take(). */
struct ss_outcome_input {
    const struct ss_plan *plan;
    const struct ss_board *board;
    struct ss_monitor *monitor;
    const struct ss_usage *usage;
    ss_time own;                    /* CPU time of our own processes in the counted time */
    uint64_t switches;              /* stops and continues in the counted time */
    uint32_t instances_with_rounds; /* number of instances with rounds, see ss_has_rounds() */
    double others; /* fraction of the CPU time that other processes used; NaN if unknown */
    ss_time end;   /* now, when control ends */
};

/* Computes all results except those of iterations. */
void ss_outcome_take(struct ss_outcome *outcome, const struct ss_outcome_input *input);

/*
 * Computes the results of iterations. Call this when no more iterations can end: one that ends
 * after the counted time still contributes a part. Takes ownership of their throughput.
 */
void ss_outcome_take_iterations(
    struct ss_outcome *outcome, const struct ss_plan *plan, struct ss_iterations *iterations);

/*
 * Checks the mean error. Fails with SS_STATUS_TOLERANCE. `tolerance_percent` of NaN turns the
 * check off.
 */
SS_MUST_USE int ss_outcome_check(
    const struct ss_outcome *outcome, double tolerance_percent, struct ss_error *error);

#endif
