/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_MACHINE_H
#define SSSIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/feedback.h>
#include <showstopper/time.h>

#include "tick_accounting.h"

struct machine_instance {
    uint32_t width;     /* threads that are runnable when it is not stopped; 1: serial */
    uint32_t lingering; /* threads that still run although it is */
    bool running;       /* not stopped */
};

/*
 * The control group that all instances are in. A quota is kept as Linux does: what is left of it at
 * the end of a period is lost, and where nothing is left all of them wait for the next one.
 */
struct machine_group {
    double quota;    /* CPU time in a period, nanoseconds; 0: no limit */
    ss_time period;  /* one begins with the machine */
    double left;     /* nanoseconds of the quota, in this period */
    ss_time refill;  /* when the next one begins */
    bool throttled;  /* until then */
    ss_time since;   /* when that began */
    uint64_t waited; /* nanoseconds for which it was throttled before, as the kernel counts */
    uint64_t used;   /* nanoseconds that its tasks ran */
    double used_part;
    ss_time changed; /* when more or fewer CPUs ran its tasks than before */
};

/*
 * A machine in virtual time with a perfectly fair scheduler: of R runnable threads on P CPUs as
 * many run at any instant as there is room for. Between two changes nothing changes, so its
 * counters are exact at every instant, and nothing is computed in between.
 */
struct machine {
    uint32_t cpus;
    double background; /* CPUs that the rest of the system wants at every instant */
    uint32_t count;    /* instances */
    struct machine_instance *instances;
    uint64_t threads; /* runnable ones of all instances, throttled or not */
    struct machine_group group;
    ss_time start;    /* the counters' zero */
    ss_time now;      /* up to here everything is accounted for */
    uint64_t idle;    /* nanoseconds, summed over the CPUs */
    double idle_part; /* of a nanosecond, not yet in `idle` */
    uint64_t used;    /* nanoseconds that tasks ran, the background's among them */
    double used_part;
    double overhead;     /* nanoseconds, whenever a CPU turns from busy to idle */
    double owed;         /* nanoseconds of overhead that are still to come */
    double chores;       /* nanoseconds of CPU time that executors have still to use */
    struct ticks *ticks; /* NULL: what is shown is exact */
};

/* All instances have the same width and are stopped at first. The counters are exact. */
SS_MUST_USE SS_NONNULL(1) int machine_open(struct machine *machine, uint32_t cpus,
    uint32_t instances, uint32_t width, ss_time start, struct ss_error *error);

/*
 * Before the first change: a CPU that turns idle is on its way there for so long, in which it
 * neither idles nor runs a task.
 */
SS_NONNULL()
void machine_set_overhead(struct machine *machine, ss_time overhead);

/* The same, and after it: what machine_read() shows is what /proc/stat would, with `rate` Hz. */
SS_MUST_USE SS_NONNULL(1) int machine_use_ticks(
    struct machine *machine, uint64_t rate, struct ss_error *error);

/* Before the first change: the instances together may use so many CPUs in the mean of a period. */
SS_NONNULL()
void machine_set_quota(struct machine *machine, double cpus, ss_time period);

SS_NONNULL()
void machine_close(struct machine *machine);

/*
 * An executor uses so much CPU time now: of an idle CPU, or else in place of the instances. Either
 * way it is time that tasks ran.
 */
SS_NONNULL()
void machine_add_chore(struct machine *machine, ss_time length, ss_time now);

/* CPUs with nothing to do at this instant. */
SS_NONNULL()
double machine_idle_cpus(const struct machine *machine);

/* CPUs that there is something to do for; more than there are where some has to wait. */
SS_NONNULL()
double machine_wanted_cpus(const struct machine *machine);

/* The part of a CPU that each runnable thread of the group has at this instant. */
SS_NONNULL()
double machine_share(const struct machine *machine);

/* While one of them runs: the part of any other runnable thread that runs, too. */
SS_NONNULL()
double machine_part_beside(const struct machine *machine);

/* Threads of an instance that run or wait for a CPU. */
SS_NONNULL()
uint32_t machine_runnable(const struct machine *machine, uint32_t instance);

/* Those of all instances, unless a quota holds them back. */
SS_NONNULL()
double machine_group_threads(const struct machine *machine);

/* When machine_enforce_quota() is to be called next, if nothing else changes. */
SS_NONNULL()
ss_time machine_quota_due(const struct machine *machine);

/* The quota is used up, or a new period begins. Whether that throttles or releases the group. */
SS_NONNULL()
bool machine_enforce_quota(struct machine *machine, ss_time now);

/* Time only moves on: `now` is never before the one given last, in all of these. */
SS_NONNULL()
void machine_set_running(struct machine *machine, uint32_t instance, bool running, ss_time now);

/* Stops it, but for so many of its threads; told again with none, these too. */
SS_NONNULL()
void machine_stop(struct machine *machine, uint32_t instance, uint32_t lingering, ss_time now);

SS_NONNULL()
void machine_set_width(struct machine *machine, uint32_t instance, uint32_t width, ss_time now);
SS_NONNULL()
void machine_set_background(struct machine *machine, double background, ss_time now);

/* The counters as the machine shows them. */
SS_NONNULL()
void machine_read(struct machine *machine, ss_time now, struct ss_counters *counters);

/* The truth. */
SS_NONNULL()
void machine_read_exactly(struct machine *machine, ss_time now, struct ss_counters *counters);

/* The same of the group. */
SS_NONNULL()
void machine_read_group(struct machine *machine, ss_time now, struct ss_counters *counters);
SS_NONNULL()
void machine_read_group_exactly(struct machine *machine, ss_time now, struct ss_counters *counters);

#endif
