/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TREE_CLOCKS_H
#define SHOWSTOPPER_TREE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/contract.h>

/*
 * The CPU time of a set of processes and of all their future descendants, as the kernel counts it
 * for threads. It is exact at any moment and includes processes that live and die between two
 * readings, but excludes what processes use while they exit. Zero-initialized: no processes.
 */
struct ss_clocks {
    struct ss_clocks_entry *entries;
    uint32_t count;
    uint32_t room;
};

struct ss_clocks_entry {
    pid_t thread;
    int clock; /* -1: closed */
};

/*
 * Adds those threads of a process that have no clock yet. Returns how many were added, or -1 if the
 * system does not let us count them, or there are too many.
 */
SS_NONNULL() int ss_clocks_add(struct ss_clocks *clocks, pid_t process);

/* Returns the nanoseconds of CPU time that threads have used since they were added. */
SS_NONNULL() uint64_t ss_clocks_read(const struct ss_clocks *clocks);

SS_NONNULL() void ss_clocks_close(struct ss_clocks *clocks);

#endif
