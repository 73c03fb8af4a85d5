/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_TRIAL_H
#define SSSIM_TRIAL_H

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "demand.h"
#include "loop/board.h"
#include "loop/module_set.h"
#include "loop/stepper.h"
#include "machine.h"
#include "measure/iterations.h"
#include "measure/monitor.h"
#include "record/journal.h"
#include "sleepers.h"
#include "work.h"

/*
 * A run in virtual time, with the real modules and step functions on a simulated machine. The same
 * options give exactly the same numbers.
 */

struct trial_sample {
    double elapsed; /* seconds from the beginning of the trial to the end of the sample */
    double target;  /* NaN without control: in warm-up and in `free` sections */
    double load;
    double duty; /* see struct ss_duty_meter; NaN if `target` is NaN */
};

struct trial_options {
    uint32_t cpus;                /* P: number of CPUs */
    uint32_t instances;           /* N: number of instances */
    uint32_t width;               /* number of threads of an instance, which are always runnable */
    const struct demand_mix *mix; /* replaces `width`; may be NULL */
    double background;            /* number of CPUs that the rest of the system uses */
    ss_time switch_cost;          /* CPU time of an executor per wake-up */
    double steal;                 /* fraction of busy CPUs' time that a hypervisor takes */
    double quota;         /* mean number of CPUs that the instances may use; 0 for no limit */
    ss_time quota_period; /* the period over which the mean is taken */
    uint64_t tick_rate;   /* rate of the kernel's accounting in Hz; 0 for exact counters */
    const char *modules[SS_KINDS];
    const char *options[SS_KINDS]; /* NULL for the defaults */
    ss_time window;                /* window of the modules and, by default, interval of samples */
    ss_time warmup;
    ss_time settle;
    ss_time lateness;     /* lateness of wake-ups; SS_TIME_NEVER to use lateness.h */
    bool lateness_varies; /* exponentially distributed, with this mean */
    ss_time preempt; /* above 0: the quota throttles the executors, too, and each thread that an
                        executor continues and that finds no idle CPU delays it by this */
    ss_time stop_lateness; /* a stop reaches one thread at once, and the other threads at the next
                              multiple of this; 0 for all at once */
    struct work_options work; /* the work of the instances */
    struct memory *memory; /* memory shared with another trial; NULL if the trial has its own, with
                              `memory_rate` */
    int side;              /* index of this trial's side in that memory */
    double memory_rate;    /* accesses per second that its own memory serves; 0 for no limit */
    struct cores cores;    /* how fast busy CPUs work */
    ss_time interval;      /* time between samples; 0 for `window` */
    bool recorded;         /* decisions go into the board's rings */
    uint64_t seed;
    void (*on_sample)(void *context, const struct trial_sample *sample); /* may be NULL */
    void *context;
};

/* Parts of an instance that executors and modules cannot access. */
struct trial_instance {
    struct demand demand;
    ss_time demand_left; /* running time until its demand changes; valid while throttled */
    ss_time stopped;     /* time of the stop; SS_TIME_NEVER if not stopped */
    bool has_lateness;   /* the executor's alarm includes its lateness */
    uint64_t switches;   /* number of stops and continues in the counted time */
    struct ss_journal journal;
};

/* A trial, which must not be moved, because its parts point to one another. */
struct trial {
    struct trial_options options;
    struct machine machine;
    struct ss_module_set set;
    struct ss_board *board;
    struct ss_stepper *steppers;
    struct trial_instance *instances;
    struct demand_class class; /* class of all instances without a mix */
    /* Sleepers, in this order: the executors, the monitor, the instances, the quota. */
    struct sleepers sleepers;
    ss_time start;
    ss_time now;
    enum ss_source source; /* source of the feedback */
    uint64_t random;       /* state of the random number generator */
    uint64_t steps;        /* number of calls of the step function */
    uint64_t switches;     /* number of stops and continues */
    ss_time own;           /* CPU time of the executors */
    struct memory memory;  /* used unless the options have a memory */
    struct work work;
    struct ss_iterations iterations;

    struct ss_load_meter meter; /* meter of the monitor */
    struct ss_monitor monitor;
    ss_time counted_from;
    uint64_t switches_seen; /* `switches` at the last sample */
    ss_time own_seen;       /* `own` at the last sample */
    uint64_t switches_sum;  /* switches in counted samples */
    ss_time own_sum;        /* CPU time of the executors in counted samples */
};

/*
 * Loads and duties are from 0 to 1. Without samples, means, errors, switches and `own_cpu` are NaN.
 */
struct trial_figures {
    size_t samples;
    double target_mean;
    double load_mean;
    double error_mean_percent;
    double error_mse_e4;
    double error_p95_percent;
    double settling_seconds; /* NaN: it never settled */
    double duty_mean;
    double switches_per_second; /* switches of all instances together */
    double own_cpu;             /* CPU time of the executors, in CPUs */
    uint64_t iterations;        /* number of iterations that ended in the counted time */
    double throughput;          /* iterations per second of the counted time; NaN if not counted */
};

SS_MUST_USE SS_NONNULL(1, 2) int trial_open(
    struct trial *trial, const struct trial_options *options, struct ss_error *error);

SS_NONNULL() void trial_close(struct trial *trial);

/* Returns the controlled time until the trace ends, or SS_TIME_NEVER. */
SS_NONNULL() ss_time trial_trace_length(const struct trial *trial);

/* Advances virtual time by `length` and completes the figures. Fails like trial_wake(). */
SS_MUST_USE SS_NONNULL(1) int trial_advance(
    struct trial *trial, ss_time length, struct ss_error *error);

/* Returns when the next event is due. Use this with trial_wake() instead of trial_advance(). */
SS_NONNULL() ss_time trial_next(const struct trial *trial);

/*
 * Advances virtual time to the next event and handles it. Fails if an executor can no longer
 * decide, or memory is exhausted.
 */
SS_MUST_USE SS_NONNULL(1) int trial_wake(struct trial *trial, struct ss_error *error);

/*
 * Advances to `now` and completes the figures. There must be no event before `now`. Fails if memory
 * is exhausted.
 */
SS_MUST_USE SS_NONNULL(1) int trial_finish(
    struct trial *trial, ss_time now, struct ss_error *error);

/* Sets how many CPUs other tasks use from `now`. There must be no event before `now`. */
SS_NONNULL() void trial_set_background(struct trial *trial, double cpus, ss_time now);

/* Ends the instance of executor `number`. The executor no longer takes part in the control. */
SS_NONNULL() void trial_leave(struct trial *trial, uint32_t number);

/* Returns the number of instances with rounds in the counted time, see ss_has_rounds(). */
SS_NONNULL() uint32_t trial_count_switching(const struct trial *trial);

SS_NONNULL() void trial_get_figures(struct trial *trial, struct trial_figures *figures);

#endif
