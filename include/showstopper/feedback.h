/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_FEEDBACK_H
#define SHOWSTOPPER_FEEDBACK_H

#include <stdbool.h>

#include <showstopper/module.h>

/* Sources that the core can open and read for a feedback module. */
enum ss_source {
    SS_SOURCE_NONE,    /* nothing is ever read */
    SS_SOURCE_SYSTEM,  /* the CPU time counters of the measured CPUs */
    SS_SOURCE_CGROUP,  /* the CPU time of one control group; argument: its path, NULL: our own */
    SS_SOURCE_SENSOR,  /* numbers that a program prints; argument: its command line */
    SS_SOURCE_RUNTIME, /* CPU time that processes ran on the measured CPUs; where the machine does
                          not keep it, SS_SOURCE_IDLE serves in its place */
    SS_SOURCE_IDLE,    /* as SS_SOURCE_SYSTEM, with idle time to the microsecond; where the machine
                          does not keep that, SS_SOURCE_SYSTEM serves in its place */
    SS_SOURCE_OWN,     /* CPU time that the run's own processes used */
};

struct ss_source_request {
    enum ss_source source;
    const char *argument;
    bool required; /* nothing else may serve in its place */
};

/*
 * One reading. All times are nanoseconds since some point in the past, summed over the measured
 * CPUs, and mean something only as differences between two readings of equal `set`.
 */
struct ss_counters {
    ss_time time;        /* when it was taken, on the monotonic clock */
    uint64_t set;        /* changes whenever CPUs come, go, or are exchanged */
    double capacity;     /* CPUs that make a load of 1: CPUs on line, or a group's allowance */
    double cpus;         /* CPUs that can be used at one instant: more than a group's quota */
    ss_time period;      /* over which a quota is kept; 0 without a quota */
    uint64_t throttled;  /* time for which the quota has held tasks back, counted when it lets go */
    uint64_t idle;       /* idle and iowait */
    uint64_t iowait;     /* that part of `idle` */
    uint64_t steal;      /* taken by the hypervisor */
    uint64_t busy_ticks; /* what the kernel counted as busy, steal included: see the manual */
    uint64_t used;       /* SS_SOURCE_CGROUP, SS_SOURCE_RUNTIME, SS_SOURCE_OWN: CPU time used */
    bool ran;            /* `used` is what counts, not `idle` */
    ss_time grain;       /* resolution of `used`; 0: much less than a millisecond */
    double value;        /* SS_SOURCE_SENSOR: the latest number, NaN before the first */
};

/* How much CPU time has been used, for control that keeps an account of it. */
struct ss_account {
    ss_time time;       /* of the reading */
    uint64_t series;    /* only readings of the same one can be compared */
    double used;        /* nanoseconds since some point in the past */
    double capacity;    /* CPUs that make a load of 1; 0: nothing is known yet */
    double cpus;        /* CPUs that can be used at one instant, at least `capacity` */
    ss_time period;     /* over which a quota keeps the mean of used CPUs to `capacity`; 0: none */
    uint64_t throttled; /* nanoseconds, likewise: how long the quota has held tasks back */
    ss_time grain;      /* resolution of `used` */
};

struct ss_feedback_module {
    struct ss_module head;

    /* Which source the module needs. Called once in the master, after prepare(). */
    void (*source)(const struct ss_self *self, struct ss_source_request *request);

    /*
     * Whether a reading is wanted now. Called in every executor each time before it asks for the
     * estimate, on the timing path: does not block or allocate. Reading costs microseconds, so
     * executors should share what one of them has read.
     */
    bool (*wants_sample)(const struct ss_self *self, const struct ss_moment *moment);

    /* Takes the reading that was wanted. Other executors may be in here at the same time. */
    void (*sample)(const struct ss_self *self, const struct ss_moment *moment,
        const struct ss_counters *counters);

    /*
     * The load, from 0 to 1. False as long as nothing has been seen of the present run of
     * control; the instances then run at a duty equal to the target, or, if there are more of them
     * than CPUs and the control keeps an account, at that divided by the number of instances per
     * CPU.
     */
    bool (*estimate)(const struct ss_self *self, const struct ss_moment *moment, double *load);

    /* Optional: a module without it cannot serve control that keeps an account. */
    void (*account)(const struct ss_self *self, struct ss_account *account);
};

#endif
