/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_MACHINE_H
#define SSSIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/feedback.h>
#include <showstopper/time.h>

/*
 * CPU time as Linux accounts for it, and shows it in /proc/stat. The busy CPUs are the ones with
 * the lowest numbers. Ticks between two changes of a CPU are counted by arithmetic, so a tick costs
 * nothing.
 */

/* One CPU. All times are in nanoseconds. */
struct ticks_cpu {
    ss_time since; /* time of its last change, up to which counters are complete */
    double level;  /* fraction of the time since then in which it is busy */
    double used;   /* time for which its tasks ran */
    double idle;
    double overhead; /* unspent time of short tasks, which `level` does not include */
    double sampled;  /* number of ticks while it was busy */
};

struct ticks {
    uint32_t count; /* number of CPUs */
    ss_time start;  /* time 0 of all clocks; the first tick is one tick length later */
    ss_time length; /* time between ticks */
    double busy;    /* number of busy CPUs */
    struct ticks_cpu cpus[];
};

struct machine_instance {
    uint32_t width;     /* number of runnable threads while it is not stopped */
    uint32_t lingering; /* number of threads that still run after a stop */
    bool running;
};

/*
 * The control group of all instances. Its quota works as in Linux: unused time is lost at the end
 * of a period; if no time is left, all instances wait for the next period.
 */
struct machine_group {
    double quota;    /* CPU time per period, nanoseconds; 0 for no limit */
    ss_time period;  /* length of a period; the first one begins with the machine */
    double left;     /* nanoseconds left in this period */
    ss_time refill;  /* start of the next period */
    bool throttled;  /* throttled until `refill` */
    ss_time since;   /* when throttling began */
    uint64_t waited; /* nanoseconds throttled, counted when throttling ends, as the kernel does */
    uint64_t used;   /* nanoseconds for which its tasks ran */
    double used_part;
    ss_time changed; /* when the number of CPUs that run its tasks last changed */
};

/*
 * A machine in virtual time with a perfectly fair scheduler: of R runnable threads on P CPUs,
 * min(R, P) run at any instant, each for an equal share of the time. Counters advance linearly
 * between changes, so they are exact at any time without intermediate steps.
 */
struct machine {
    uint32_t cpus;
    double background; /* CPUs used by the rest of the system */
    double steal;   /* fraction of busy CPUs' time that a hypervisor takes; set it after opening */
    uint32_t count; /* number of instances */
    struct machine_instance *instances;
    uint64_t threads; /* number of runnable threads of all instances, throttled or not */
    struct machine_group group;
    ss_time start;    /* time when the counters were 0 */
    ss_time now;      /* counters are complete up to this time */
    uint64_t idle;    /* nanoseconds, summed over the CPUs */
    double idle_part; /* fraction of a nanosecond that is not yet in `idle` */
    uint64_t used;    /* nanoseconds for which tasks ran, including the background */
    double used_part;
    uint64_t stolen; /* nanoseconds taken by the hypervisor */
    double stolen_part;
    double overhead;     /* nanoseconds of CPU time of executors not yet spent */
    struct ticks *ticks; /* NULL if machine_read() is exact */
};

/* Opens a machine whose instances all have this width and are stopped. The counters are exact. */
SS_MUST_USE SS_NONNULL(1) int machine_open(struct machine *machine, uint32_t cpus,
    uint32_t instances, uint32_t width, ss_time start, struct ss_error *error);

/*
 * Makes machine_read() return what /proc/stat would show with ticks at `rate` Hz. Call this before
 * the first change.
 */
SS_MUST_USE SS_NONNULL(1) int machine_use_ticks(
    struct machine *machine, uint64_t rate, struct ss_error *error);

/*
 * Limits the mean number of CPUs that the instances use in a period. Call this before the first
 * change.
 */
SS_NONNULL() void machine_set_quota(struct machine *machine, double cpus, ss_time period);

SS_NONNULL() void machine_close(struct machine *machine);

/*
 * Spends CPU time for an executor, on an idle CPU or, if none is idle, in place of the instances.
 * It counts as used in both cases.
 */
SS_NONNULL() void machine_add_overhead(struct machine *machine, ss_time length, ss_time now);

SS_NONNULL() double machine_idle_cpus(const struct machine *machine);

/* Returns the number of CPUs demanded, which may exceed that of the machine. */
SS_NONNULL() double machine_demanded_cpus(const struct machine *machine);

/* Returns the fraction of a CPU that each runnable thread of the group currently gets. */
SS_NONNULL() double machine_share(const struct machine *machine);

/*
 * Returns the probability that another runnable thread runs at an instant at which a given thread
 * runs.
 */
SS_NONNULL() double machine_overlap(const struct machine *machine);

/* Returns the number of runnable threads of an instance, throttled or not. */
SS_NONNULL() uint32_t machine_runnable(const struct machine *machine, uint32_t instance);

/* Returns when to call machine_enforce_quota() next, unless a change comes before. */
SS_NONNULL() ss_time machine_quota_due(const struct machine *machine);

/*
 * Throttles the group if its quota is used up, and releases it if a new period begins. Returns
 * whether the state changed.
 */
SS_NONNULL() bool machine_enforce_quota(struct machine *machine, ss_time now);

/* `now` must not decrease from call to call, in these functions and in those above. */
SS_NONNULL() void machine_continue(struct machine *machine, uint32_t instance, ss_time now);

/* Stops an instance except for `lingering` of its threads. Another call with 0 stops these, too. */
SS_NONNULL()
void machine_stop(struct machine *machine, uint32_t instance, uint32_t lingering, ss_time now);

SS_NONNULL()
void machine_set_width(struct machine *machine, uint32_t instance, uint32_t width, ss_time now);
SS_NONNULL() void machine_set_background(struct machine *machine, double background, ss_time now);

/* Reads the counters as the machine shows them. */
SS_NONNULL() void machine_read(struct machine *machine, ss_time now, struct ss_counters *counters);

SS_NONNULL()
void machine_read_exactly(struct machine *machine, ss_time now, struct ss_counters *counters);

/* Read the counters of the group, as the machine shows them and exactly. */
SS_NONNULL()
void machine_read_group(struct machine *machine, ss_time now, struct ss_counters *counters);
SS_NONNULL()
void machine_read_group_exactly(struct machine *machine, ss_time now, struct ss_counters *counters);

#endif
