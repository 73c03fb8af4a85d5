/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_TICKS_H
#define SSSIM_TICKS_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/feedback.h>
#include <showstopper/time.h>

/*
 * CPU time as a real kernel accounts and shows it. Here it matters which CPUs are busy: those with
 * the lowest numbers. Ticks between two changes of a CPU are counted by arithmetic, so a tick costs
 * nothing.
 */

/* One CPU; all times are nanoseconds. */
struct ticks_cpu {
    ss_time since; /* its last change; counters are complete up to this time */
    double level;  /* the part of the time that it is busy since then, 0 to 1 */
    double used;   /* time that its tasks ran */
    double idle;
    double owed;    /* overhead to spend before it is idle */
    double chores;  /* time of short tasks, not included in `level`, not yet spent */
    double sampled; /* ticks while it was busy */
};

struct ticks {
    uint32_t count;  /* CPUs */
    ss_time start;   /* time 0 of all clocks; the first tick is one length later */
    ss_time length;  /* time between ticks */
    double busy;     /* number of busy CPUs */
    double overhead; /* nanoseconds, each time a CPU becomes idle */
    struct ticks_cpu cpus[];
};

/* Returns the state with all CPUs idle, NULL if out of memory. Free it with free(). */
struct ticks *ticks_open(uint32_t cpus, uint64_t rate, ss_time overhead, ss_time start);

SS_NONNULL()
void ticks_set_busy(struct ticks *ticks, double busy, ss_time now);

/* Runs a short task on the first idle CPU. */
SS_NONNULL()
void ticks_add_chore(struct ticks *ticks, double nanoseconds, ss_time now);

/* Returns the time of the last tick. */
SS_NONNULL()
ss_time ticks_last(const struct ticks *ticks, ss_time now);

/* Sets `idle`, `busy_ticks` and `used` to what the kernel shows, and leaves the rest. */
SS_NONNULL()
void ticks_read(const struct ticks *ticks, ss_time now, struct ss_counters *counters);

#endif
