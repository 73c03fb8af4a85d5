/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_TICKS_H
#define SSSIM_TICKS_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/feedback.h>
#include <showstopper/time.h>

/*
 * The account that a real kernel keeps and shows. Which CPU is busy matters here: those with the
 * lowest numbers are. Between two changes of a CPU its ticks are counted by arithmetic, so a tick
 * costs nothing.
 */

/* One CPU; all times are nanoseconds. */
struct ticks_cpu {
    ss_time since; /* up to here everything is accounted for: its last change */
    double level;  /* the part of the time that it has been busy since: 0, 1, or between */
    double used;   /* by what runs on it */
    double idle;
    double owed;    /* overhead that it has still to work off before it is idle */
    double chores;  /* work of tasks that are not among those that make it busy, still to do */
    double sampled; /* ticks that found it busy */
};

struct ticks {
    uint32_t count;  /* CPUs */
    ss_time start;   /* of all clocks; the first tick comes one length later */
    ss_time length;  /* of a tick */
    double busy;     /* CPUs, now */
    double overhead; /* nanoseconds, whenever a CPU turns from busy to idle */
    struct ticks_cpu cpus[];
};

/* All CPUs are idle. Free it with free(); NULL when memory is short. */
struct ticks *ticks_open(uint32_t cpus, uint64_t rate, ss_time overhead, ss_time start);

SS_NONNULL()
void ticks_set_busy(struct ticks *ticks, double busy, ss_time now);

/* A task works for so long on the first CPU that is idle. */
SS_NONNULL()
void ticks_add_chore(struct ticks *ticks, double nanoseconds, ss_time now);

/* When the last tick was. */
SS_NONNULL()
ss_time ticks_last(const struct ticks *ticks, ss_time now);

/* Puts what the kernel shows into `idle`, `busy_ticks` and `used`, and leaves the rest. */
SS_NONNULL()
void ticks_read(const struct ticks *ticks, ss_time now, struct ss_counters *counters);

#endif
