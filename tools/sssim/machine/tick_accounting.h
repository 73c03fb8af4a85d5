/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_TICK_ACCOUNTING_H
#define SSSIM_TICK_ACCOUNTING_H

#include <stdint.h>

#include <showstopper/contract.h>
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
    double level;  /* the part of the time since then in which it is busy, 0 to 1 */
    double used;   /* time for which its tasks ran */
    double idle;
    double chores;  /* unspent time of short tasks, which `level` does not include */
    double sampled; /* number of ticks while it was busy */
};

struct ticks {
    uint32_t count; /* number of CPUs */
    ss_time start;  /* time 0 of all clocks; the first tick is one tick length later */
    ss_time length; /* time between ticks */
    double busy;    /* number of busy CPUs */
    struct ticks_cpu cpus[];
};

/* Returns the state with all CPUs idle; NULL if memory is exhausted. Free it with free(). */
struct ticks *ticks_open(uint32_t cpus, uint64_t rate, ss_time start);

SS_NONNULL()
void ticks_set_busy(struct ticks *ticks, double busy, ss_time now);

/* Runs a short task on the first idle CPU. */
SS_NONNULL()
void ticks_add_chore(struct ticks *ticks, double nanoseconds, ss_time now);

SS_NONNULL()
ss_time ticks_last(const struct ticks *ticks, ss_time now);

/*
 * Sets `idle`, `busy_ticks` and `used` to the kernel's figures, and leaves the other members
 * unchanged.
 */
SS_NONNULL()
void ticks_read(const struct ticks *ticks, ss_time now, struct ss_counters *counters);

#endif
