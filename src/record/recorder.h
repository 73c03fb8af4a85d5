/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RECORD_RECORDER_H
#define SHOWSTOPPER_RECORD_RECORDER_H

#include "base/lines.h"
#include "command/plan.h"
#include "loop/board.h"
#include "measure/load_sample.h"
#include "measure/monitor.h"
#include "record/folder.h"
#include "record/outcome.h"

enum ss_record_file {
    SS_RECORD_SAMPLES,
    SS_RECORD_DECISIONS,
    SS_RECORD_ITERATIONS,
    SS_RECORD_EVENTS,
    SS_RECORD_FILES,
};

/*
 * So many rows are kept in iterations.csv of one second. A program that prints as fast as it can
 * would fill any disk with its iterations.
 */
#define SS_RECORDER_ITERATIONS_MAX 10000

/*
 * Keeps a run in a folder, as showstopper-record(5) describes it. The master alone writes it;
 * executors hand over what they decided through rings and never wait for the disk. All functions do
 * nothing where nothing is recorded.
 */
struct ss_recorder {
    struct ss_plan *plan;
    struct ss_record_folder record;
    ss_time origin; /* elapsed time counts from here; SS_TIME_NEVER: not known yet */
    int64_t wall;   /* what the wall clock is ahead of the monotonic one */
    int64_t second; /* that `label` is of */
    char label[24];
    int64_t iterations_second;  /* of the monotonic clock, that `iterations_kept` is of */
    uint32_t iterations_kept;   /* rows in that second */
    uint64_t iterations_left;   /* rows that there were too many of in a second */
    struct ss_load_meter meter; /* for the parts of the load, which control does not need */
    bool measures;
    struct ss_lines files[SS_RECORD_FILES];
};

/* Makes the folder and what is known before anything is started; all of it or nothing. */
int ss_recorder_open(struct ss_recorder *recorder, struct ss_plan *plan, struct ss_error *error);

/* When control begins, as far as it is known. */
void ss_recorder_set_origin(struct ss_recorder *recorder, ss_time origin);

void ss_recorder_sample(struct ss_recorder *recorder, const struct ss_monitor_sample *sample);

void ss_recorder_iteration(
    struct ss_recorder *recorder, uint32_t instance, ss_time start, ss_time end);

/* `instance` -1, `text` NULL and `value` NaN: not a part of it. */
void ss_recorder_event(struct ss_recorder *recorder, ss_time now, const char *event,
    int64_t instance, const char *text, double value);

/* What the executors have handed over, to the file; and all that was gathered to the disk. */
void ss_recorder_flush(struct ss_recorder *recorder, struct ss_board *board);

/* Nothing was started: no record is left of it. */
void ss_recorder_abandon(struct ss_recorder *recorder);

/* The last of it; what could not be kept is warned of. */
void ss_recorder_close(
    struct ss_recorder *recorder, struct ss_board *board, struct ss_outcome *outcome);

#endif
