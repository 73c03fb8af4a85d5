/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LINUX_STAT_H
#define SHOWSTOPPER_LINUX_STAT_H

#include "base/cpus.h"

/*
 * The columns of /proc/stat, see proc(5). The columns after these are guest time, which user time
 * includes.
 */
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

/* One CPU's line in clock ticks. Columns that an older kernel does not have are 0. */
struct ss_stat_line {
    uint32_t cpu;
    uint64_t ticks[SS_STAT_COLUMNS];
};

/*
 * Reads the next line of a measured CPU and moves `*text` behind it. Returns false if there is
 * none, or if the line was cut off or has fewer columns than the oldest kernels have.
 */
bool ss_linux_stat_next(const char **text, const struct ss_cpus *cpus, struct ss_stat_line *line);

#endif
