/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RUN_STATE_H
#define SHOWSTOPPER_RUN_STATE_H

#include <showstopper/contract.h>

#include "command/plan.h"
#include "measure/conditions.h"
#include "measure/iterations.h"
#include "measure/monitor.h"
#include "measure/perf.h"
#include "record/outcome.h"
#include "record/recorder.h"
#include "run/crew.h"
#include "run/output.h"
#include "run/sensor.h"
#include "run/stage.h"
#include "screen/progress.h"
#include "tree/cpu_time.h"

/*
 * The number of descriptors that the master polls besides the instances' output: signals, the
 * wakeup pipe and the sensor.
 */
#define SS_MASTER_POLLS 3

/* The state of --counters; see perf.h. */
struct ss_master_perf {
    ss_time next;       /* when to send the next request to the executors; SS_TIME_NEVER if never */
    ss_time collect_at; /* when to write their answers; SS_TIME_NEVER if no request is open */
    ss_time requested_at;             /* when the open request was sent */
    long runnable;                    /* number of runnable threads at `requested_at` */
    double (*totals)[SS_PERF_EVENTS]; /* totals of each executor as of the previous row */
};

/* The master's own state of a run. */
struct ss_master {
    struct ss_plan *plan;
    struct ss_board *board;
    int descriptor; /* descriptor of the board */
    struct ss_signals signals;
    sigset_t caller_mask; /* the signal mask of the caller, before we held signals back */
    struct ss_scheduling *scheduling;
    struct ss_crew crew;
    struct ss_sensor sensor;
    struct ss_output output;
    struct ss_load_meter meter; /* the monitor's meter, for the load */
    struct ss_master_perf perf;
    struct ss_load_meter cpus;     /* a second one, for cpus.csv, if `meter` reads no CPUs */
    struct ss_cpu_time *cpu_times; /* a meter per instance with SS_SOURCE_OWN, otherwise NULL */
    struct ss_monitor monitor;
    struct ss_usage usage;
    struct ss_conditions conditions;
    struct ss_iterations iterations;
    struct ss_progress progress;
    struct ss_recorder *recorder; /* on the heap because it is large */
    struct ss_outcome *outcome;
    struct ss_error *error;
    enum ss_stage stage;
    ss_time stage_end;   /* planned end of the stage; SS_TIME_NEVER without one */
    ss_time start_delay; /* how long after --start-at the trace begins */
    ss_time ending_since;
    uint64_t *switches_before; /* switches that each executor had sent when counting began */
    struct ss_setpoints_reader setpoints;
    bool explained;       /* a message has explained why SIGINT is ignored */
    uint64_t limits_seen; /* number of changes of the group's allowance that have been noted */
    uint32_t *lives_seen; /* enum ss_life of each instance, as last seen */
    uint64_t *iterations_seen;
    ss_time first_failure; /* when the first failing instance ended */
    int failure_status;    /* exit status of that instance, or SS_ERROR_FAILED if attached processes
                              could not be ended; 0 if neither */
    struct pollfd *polls;
};

/* Counts stops and continues from now on. */
void ss_master_begin_switches(struct ss_master *master);

/*
 * Returns how many stops and continues the executors have sent since then. Sets `with_rounds` to
 * the number of instances with rounds, see ss_has_rounds().
 */
uint64_t ss_master_count_switches(const struct ss_master *master, uint32_t *with_rounds);

/* Adds an event to the record; see ss_recorder_event(). */
void ss_master_record_event(
    struct ss_master *master, const char *event, int64_t instance, const char *text, double value);

/* Adds an event with the time `at`, which the statistics use as a bound, instead of now. */
void ss_master_record_bound(
    struct ss_master *master, ss_time at, const char *event, const char *text);

/* Prints a line with -v. */
SS_FORMAT(2, 3) void ss_master_print_verbose(struct ss_master *master, const char *format, ...);

#endif
