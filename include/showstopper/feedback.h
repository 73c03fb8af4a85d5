/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_FEEDBACK_H
#define SHOWSTOPPER_FEEDBACK_H

#include <stdbool.h>

#include <showstopper/module.h>

/* Sources that the core can open and read for a feedback module. */
enum ss_source {
    SS_SOURCE_NONE,    /* for a module that takes no samples; statistics use SS_SOURCE_SYSTEM */
    SS_SOURCE_SYSTEM,  /* the CPU time counters of the measured CPUs */
    SS_SOURCE_CGROUP,  /* CPU time of a control group; argument: its path, or NULL for our own */
    SS_SOURCE_SENSOR,  /* numbers that a program prints; argument: its command line */
    SS_SOURCE_RUNTIME, /* CPU time of processes on the measured CPUs; falls back to
                          SS_SOURCE_IDLE */
    SS_SOURCE_IDLE,    /* like SS_SOURCE_SYSTEM, but with idle time in microseconds; falls back to
                          SS_SOURCE_SYSTEM */
    SS_SOURCE_OWN,     /* CPU time that the run's own processes used */
};

struct ss_source_request {
    enum ss_source source;
    const char *argument;
    bool required; /* fail if the source is unavailable, instead of falling back to another one */
    double cpus;   /* SS_SOURCE_OWN: CPUs that make a load of 1; 0: all measured CPUs */
};

/*
 * One reading. Amounts of time are nanoseconds since some point in the past, summed over CPUs. Only
 * differences between readings with the same `set` have a meaning.
 */
struct ss_counters {
    ss_time time;        /* time of the reading, on the monotonic clock */
    uint64_t set;        /* changes when CPUs, or the groups that are summed up, change */
    double capacity;     /* CPUs that make a load of 1: CPUs online, or a group's allowance */
    double cpus;         /* CPUs that can be used at the same time: may exceed a group's quota */
    ss_time period;      /* period of the quota; 0 without a quota */
    uint64_t throttled;  /* time for which the quota held tasks back; grows when it releases them */
    uint64_t idle;       /* idle time, including iowait */
    uint64_t iowait;     /* the part of `idle` spent waiting for I/O */
    uint64_t steal;      /* time stolen by the hypervisor */
    uint64_t busy_ticks; /* time that the kernel counted as busy at clock ticks, including steal */
    uint64_t used;       /* SS_SOURCE_CGROUP, SS_SOURCE_RUNTIME, SS_SOURCE_OWN: CPU time used */
    bool ran;            /* SS_SOURCE_RUNTIME, SS_SOURCE_OWN: `used` is valid, `idle` is not */
    ss_time grain;       /* resolution of `used` or `idle`; 0 if much less than a millisecond */
    double value;        /* SS_SOURCE_SENSOR: the latest number, NaN before the first */
};

/* CPU time used so far, for a control module that keeps an account. */
struct ss_account {
    ss_time time;       /* time of the reading */
    uint64_t series;    /* readings of different series cannot be compared */
    double used;        /* nanoseconds since some point in the past */
    double capacity;    /* CPUs that make a load of 1; 0: not known yet */
    double cpus;        /* CPUs that can be used at the same time, at least `capacity` */
    ss_time period;     /* period of a quota that limits the mean of used CPUs to `capacity`; 0: no
                           quota */
    uint64_t throttled; /* how long the quota has held tasks back, in nanoseconds since some point
                           in the past */
    ss_time grain;      /* resolution of `used` */
};

struct ss_feedback_module {
    struct ss_module head;

    /* Requests a source. Called once in the master, after prepare(). */
    void (*source)(const struct ss_self *self, struct ss_source_request *request);

    /*
     * Returns whether to take a reading now. Each executor calls this before it requests the
     * estimate, on the timing path: must not block or allocate. A reading costs microseconds, so
     * executors should share them.
     */
    bool (*wants_sample)(const struct ss_self *self, const struct ss_moment *moment);

    /*
     * Passes the reading that wants_sample() requested. Other executors may call this at the same
     * time.
     */
    void (*sample)(const struct ss_self *self, const struct ss_moment *moment,
        const struct ss_counters *counters);

    /*
     * Sets the load, from 0 to 1. Returns false before the first estimate since control began.
     * Until then instances run at a duty equal to the target. If there are more instances than CPUs
     * and the control module keeps an account, that duty is divided by the number of instances per
     * CPU.
     */
    bool (*estimate)(const struct ss_self *self, const struct ss_moment *moment, double *load);

    /*
     * Optional. Reports the CPU time used so far. Required by control modules that keep an account.
     */
    void (*account)(const struct ss_self *self, struct ss_account *account);
};

#endif
