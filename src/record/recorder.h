/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_RECORDER_H
#define SHOWSTOPPER_RECORD_RECORDER_H

#include <showstopper/contract.h>

#include "base/lines.h"
#include "command/plan.h"
#include "loop/board.h"
#include "measure/monitor.h"
#include "measure/perf.h"
#include "record/folder.h"
#include "record/iteration_table.h"
#include "record/outcome.h"

enum ss_record_file {
    SS_RECORD_SAMPLES,
    SS_RECORD_CPUS,
    SS_RECORD_DECISIONS, /* absent if the plan excludes decisions */
    SS_RECORD_ITERATIONS,
    SS_RECORD_ITERATION_TIMES,
    SS_RECORD_EVENTS,
    SS_RECORD_COUNTERS, /* only if the plan has counters */
    SS_RECORD_FILES,
};

/*
 * Maximum rows per second in iterations.csv: a program that prints in a tight loop would fill the
 * disk.
 */
#define SS_RECORDER_ITERATIONS_MAX 10000

/*
 * Writes the record of a run as showstopper-record(5) describes it. Only the master writes;
 * executors hand over their decisions through rings and never wait for the disk. If nothing is
 * recorded, all functions do nothing.
 */
struct ss_recorder {
    struct ss_plan *plan;
    struct ss_record_folder record;
    ss_time origin;            /* elapsed time counts from here; SS_TIME_NEVER if not yet known */
    int64_t wall;              /* offset of the wall clock from the monotonic clock */
    int64_t iterations_second; /* the second of the monotonic clock that `iterations_kept` counts */
    uint32_t iterations_kept;  /* number of rows in that second */
    uint64_t iterations_omitted; /* number of rows left out because their second was full */
    struct ss_iteration_table iteration_times;
    double loads[SS_CPUS_MAX]; /* loads of the measured CPUs in the current sample */
    struct ss_lines files[SS_RECORD_FILES];
};

/* Creates the folder with what is known before the start. Leaves nothing behind on failure. */
SS_MUST_USE int ss_recorder_open(
    struct ss_recorder *recorder, struct ss_plan *plan, struct ss_error *error);

/* Sets the start of control, if known. */
void ss_recorder_set_origin(struct ss_recorder *recorder, ss_time origin);

void ss_recorder_sample(struct ss_recorder *recorder, const struct ss_monitor_sample *sample);

SS_NONNULL()
void ss_recorder_iteration(struct ss_recorder *recorder, const struct ss_iteration *iteration);

/* An event. Members without a value are omitted from the row. */
struct ss_record_event {
    ss_time at;
    const char *name;
    int64_t instance; /* -1 if none */
    const char *text; /* NULL if none */
    double value;     /* NaN if none */
};

void ss_recorder_event(struct ss_recorder *recorder, const struct ss_record_event *event);

/* Counts since the previous row. NaN if unknown. */
struct ss_record_counts {
    ss_time at;
    long runnable;                 /* number of runnable threads at that time; -1 if unknown */
    double values[SS_PERF_EVENTS]; /* events; the task clock is in nanoseconds */
};

void ss_recorder_counts(struct ss_recorder *recorder, const struct ss_record_counts *counts);

/* Collects the decisions of the executors and writes everything that is pending. */
void ss_recorder_flush(struct ss_recorder *recorder, struct ss_board *board);

/* Removes the record of a run that did not start. */
void ss_recorder_abandon(struct ss_recorder *recorder);

/* Writes all pending rows, warns of lost ones, and passes the open folder on to the outcome. */
void ss_recorder_close(
    struct ss_recorder *recorder, struct ss_board *board, struct ss_outcome *outcome);

#endif
