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
 * A run in virtual time: the real modules and the real step functions on a simulated machine. The
 * same options give the same numbers, bit for bit.
 */

/* One look of the monitor. */
struct trial_sample {
    double elapsed; /* seconds since the trial began, at its end */
    double target;  /* NaN: no control, in warm-up and `free` sections */
    double load;
    double duty; /* see duty.h; NaN as the target */
};

/* How late a wake-up is. */
enum trial_lateness {
    TRIAL_LATENESS_FIXED,
    TRIAL_LATENESS_EXPONENTIAL,
    TRIAL_LATENESS_RECORDED, /* as it was on a real machine, see lateness.h */
};

struct trial_options {
    uint32_t cpus;                /* P */
    uint32_t instances;           /* N */
    uint32_t width;               /* threads of an instance, all always runnable */
    const struct demand_mix *mix; /* what they do in place of that; NULL: nothing else */
    double background;            /* CPUs that the rest of the system wants at every instant */
    ss_time background_period;    /* or only in the first half of each of these; 0: at every one */
    ss_time switch_cost;          /* CPU time that an executor uses whenever it is woken */
    double quota;                 /* CPUs that the instances may use in the mean; 0: no limit */
    ss_time quota_period;         /* in the mean of how long */
    bool inside;                  /* the quota throttles the executors, too */
    ss_time overhead;             /* whenever a CPU turns idle: neither idle nor used */
    uint64_t tick_rate;           /* Hz of the kernel's own account; 0: what it shows is exact */
    const char *modules[SS_KINDS];
    const char *options[SS_KINDS]; /* NULL: the defaults */
    ss_time window;                /* of the modules, and the length of a sample */
    ss_time warmup;
    ss_time settle;
    ss_time lateness; /* TRIAL_LATENESS_RECORDED has its own */
    enum trial_lateness lateness_law;
    ss_time preempt; /* by so much each thread holds up the executor that continued it, where it
                        finds no idle CPU */
    ss_time stop_lateness;    /* a stop reaches one thread at once, and the others at the next
                                 multiple of this; 0: all at once */
    ss_time start_lateness;   /* up to so much later than the first of an instance do its other
                                 threads begin now and then; 0: at once */
    struct work_options work; /* what the instances get done */
    struct memory *memory;    /* that another trial shares, too; NULL: one of its own, of `rate` */
    int side;                 /* of that one */
    double memory_rate;       /* accesses a second that its own one serves; 0: no limit */
    ss_time interval;         /* from sample to sample; 0: `window` */
    bool recorded;            /* decisions are put into the board's rings */
    uint64_t seed;
    void (*on_sample)(void *context, const struct trial_sample *sample); /* may be NULL */
    void *context;
};

/* Hidden from executors and modules: */
struct trial_instance {
    struct demand demand;
    ss_time held; /* while it is throttled: how long until its demand changes */
    bool awake;   /* its executor: how late it is this time has been drawn */
    struct ss_journal journal;
};

/* Must stay where it was opened: its parts point to one another. */
struct trial {
    struct trial_options options;
    struct machine machine;
    struct ss_module_set set;
    struct ss_board *board;
    struct ss_stepper *steppers;
    struct trial_instance *lives;
    struct demand_class class; /* of all, where there is no mix */
    /* The executors; the monitor; the executors' instances; the background; the quota. */
    struct sleepers sleepers;
    ss_time start;
    ss_time now;
    enum ss_source source; /* of the feedback */
    uint64_t random;       /* state of the generator */
    uint64_t steps;        /* calls of the step function */
    uint64_t switches;     /* stops and continues */
    ss_time own;           /* CPU time that executors used */
    struct memory memory;  /* unless the options have one */
    struct work work;
    struct ss_iterations iterations;

    struct ss_load_meter meter; /* the monitor's */
    struct ss_monitor monitor;
    ss_time counted_from;
    uint64_t switches_seen; /* at the last sample; so is the next */
    ss_time own_seen;
    uint64_t switches_sum; /* in counted samples; so is the next */
    ss_time own_sum;
};

struct trial_figures {
    size_t samples;
    double target_mean; /* loads and duties from 0 to 1; all NaN without samples */
    double load_mean;
    double error_mean_percent;
    double error_mse_e4;
    double error_p95_percent;
    double settling_seconds; /* NaN: never */
    double duty_mean;
    double switches_per_second; /* of all instances together */
    double own_cpu;             /* what executors used, part of one CPU */
    uint64_t iterations;        /* that ended in the counted time */
    double throughput;          /* iterations per second of it; NaN: none are counted */
};

SS_MUST_USE SS_NONNULL(1, 2) int trial_open(
    struct trial *trial, const struct trial_options *options, struct ss_error *error);

SS_NONNULL()
void trial_close(struct trial *trial);

/* Controlled time until the trace ends; SS_TIME_NEVER: it does not. */
SS_NONNULL()
ss_time trial_trace_length(const struct trial *trial);

/* Lets virtual time pass. Fails when an executor can no longer decide. */
SS_MUST_USE SS_NONNULL(1) int trial_advance(
    struct trial *trial, ss_time length, struct ss_error *error);

/* When the next event is due, and the trial's way to it, in place of trial_advance(). */
SS_NONNULL()
ss_time trial_next(const struct trial *trial);
SS_MUST_USE SS_NONNULL(1) int trial_wake(struct trial *trial, struct ss_error *error);

/* Time passes up to `now`, in which there is no event, and all is counted. Fails without memory. */
SS_MUST_USE SS_NONNULL(1) int trial_finish(
    struct trial *trial, ss_time now, struct ss_error *error);

/* From `now` on, before which there is no event, other tasks want so many CPUs. */
SS_NONNULL()
void trial_crowd(struct trial *trial, double cpus, ss_time now);

/* Wakes all executors now, as the master does when something has changed. */
SS_NONNULL()
void trial_wake_all(struct trial *trial);

/* Executor `number` sleeps until `due`, whatever it had planned. */
SS_NONNULL()
void trial_set_due(struct trial *trial, uint32_t number, ss_time due);

/* The instance of executor `number` ends, and takes part no longer. */
SS_NONNULL()
void trial_leave(struct trial *trial, uint32_t number);

/* Counts afresh from now on. */
SS_NONNULL()
void trial_forget(struct trial *trial);

SS_NONNULL()
void trial_get_figures(struct trial *trial, struct trial_figures *figures);

#endif
