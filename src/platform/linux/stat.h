/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_PLATFORM_LINUX_STAT_H
#define SHOWSTOPPER_PLATFORM_LINUX_STAT_H

#include "platform/platform.h"

/*
 * Reads the next line of a measured CPU and moves `*text` past it. `unit` is the length of a
 * clock tick in nanoseconds. Columns that an older kernel does not have are 0. Returns false if
 * there is no such line, or if it was cut off or has fewer columns than the oldest kernels have.
 */
SS_NONNULL()
bool ss_linux_stat_next(
    const char **text, const struct ss_cpus *cpus, uint64_t unit, struct ss_cpu_times *times);

#endif
