/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LINUX_STAT_H
#define SHOWSTOPPER_LINUX_STAT_H

#include "base/cpus.h"

/* The columns of /proc/stat, see proc(5). Those behind are guest time, which is user time, too. */
enum {
    SS_STAT_USER,
    SS_STAT_NICE,
    SS_STAT_SYSTEM,
    SS_STAT_IDLE,
    SS_STAT_IOWAIT,
    SS_STAT_IRQ,
    SS_STAT_SOFTIRQ,
    SS_STAT_STEAL,
    SS_STAT_COLUMNS,
};

/* One CPU's line, in clock ticks. What an older kernel does not tell is 0. */
struct ss_stat_line {
    uint32_t cpu;
    uint64_t ticks[SS_STAT_COLUMNS];
};

/*
 * Takes the next line of a measured CPU from `*text`, which is moved behind it. False: there is no
 * further one. A line that was cut off is no reading, and nor is one with fewer columns than the
 * oldest kernels have.
 */
bool ss_linux_stat_next(const char **text, const struct ss_cpus *cpus, struct ss_stat_line *line);

#endif
