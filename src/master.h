/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MASTER_H
#define SHOWSTOPPER_MASTER_H

#include "crew.h"
#include "iterations.h"
#include "monitor.h"
#include "outcome.h"
#include "output.h"
#include "plan.h"
#include "progress.h"
#include "recorder.h"
#include "sensor.h"

/* How long executors may take once their instances have been killed. */
#define SS_MASTER_KILL_PATIENCE (500 * SS_MILLISECOND)

/* What the master waits for beside the instances' output: signals, the bell, the sensor. */
#define SS_MASTER_POLLS 3

/* Where a run stands. */
enum ss_stage {
    SS_STAGE_WAITING,  /* for the moment to start the instances (--start-at) */
    SS_STAGE_STARTING, /* instances are being started */
    SS_STAGE_WARMUP,   /* all run, uncontrolled */
    SS_STAGE_SETTLING, /* controlled, not counted */
    SS_STAGE_COUNTING,
    SS_STAGE_ENDING, /* executors end their instances */
    SS_STAGE_OVER,
};

/* The master's own view of a run. */
struct ss_master {
    struct ss_plan *plan;
    struct ss_board *board;
    int descriptor; /* of the board */
    struct ss_signals signals;
    struct ss_scheduling *scheduling;
    struct ss_crew crew;
    struct ss_sensor sensor;
    struct ss_output output;
    struct ss_monitor monitor;
    struct ss_usage usage;
    struct ss_iterations iterations;
    struct ss_progress progress;
    struct ss_recorder *recorder; /* large */
    struct ss_outcome *outcome;
    struct ss_error *error;
    enum ss_stage stage;
    ss_time stage_end; /* when the present stage is over; SS_TIME_NEVER: open */
    ss_time ending_since;
    ss_time kill_at;   /* in SS_STAGE_ENDING: when executors are no longer waited for */
    uint64_t switches; /* sent by all when counting began */
    uint64_t setpoints_seen;
    uint32_t *lives; /* enum ss_life of each instance, as last seen */
    uint64_t *iterations_seen;
    ss_time first_failure; /* when the first failing instance ended */
    int failure_status;    /* its exit status; 0: none */
    struct pollfd *polls;
};

/*
 * Runs the plan from the first fork to the last. Returns 0 with the outcome, or -1 with `error`
 * set, in which case `outcome` tells as much as is known. Either way nothing is left behind.
 */
int ss_master_run(struct ss_plan *plan, struct ss_outcome *outcome, struct ss_error *error);

/* Sleeps until `deadline` or until something happens, and handles all that did (events.c). */
void ss_master_handle_events(struct ss_master *master, ss_time deadline);

/* Takes what the sensor has said, if there is one (events.c). */
void ss_master_read_sensor(struct ss_master *master, ss_time now);

/* What the board has to tell: births, ends, iterations, failures (watch.c). */
void ss_master_watch(struct ss_master *master);

/* Children that have ended (watch.c). */
void ss_master_reap(struct ss_master *master);

/* Goes on to the next stage when the present one is over (stages.c). */
void ss_master_advance(struct ss_master *master, ss_time now);

/* When the waiting of a run is over that has yet to begin (stages.c). */
ss_time ss_master_first_stage_end(const struct ss_plan *plan);

/* All that the executors have sent so far. */
uint64_t ss_master_count_switches(const struct ss_master *master);

/* Ends the run: `by` is for the summary; the signal goes to the instances first. */
void ss_master_end(struct ss_master *master, const char *by, int signal);

/* For the record; see ss_recorder_event(). */
void ss_master_note(
    struct ss_master *master, const char *event, int64_t instance, const char *text, double value);

/* A bound of the time that counts, at the very moment that the figures have it. */
void ss_master_note_bound(
    struct ss_master *master, ss_time at, const char *event, const char *text);

/* A line of -v. */
__attribute__((format(printf, 2, 3))) void ss_master_say(
    struct ss_master *master, const char *format, ...);

#endif
