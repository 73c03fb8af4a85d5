/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_PLATFORM_LINUX_LINUX_H
#define SHOWSTOPPER_PLATFORM_LINUX_LINUX_H

#include <string.h>

#include "platform/platform.h"

/* A directory entry as the kernel returns it: struct linux_dirent64. */
struct ss_linux_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

SS_NONNULL(1)
int ss_linux_cgroup_open(struct ss_counter_reader *reader, const char *group,
    const struct ss_platform_roots *roots, struct ss_error *error);
SS_NONNULL() void ss_linux_cgroup_open_throttling(struct ss_counter_reader *reader);
SS_NONNULL()
int ss_linux_cgroup_parse(struct ss_counter_reader *reader, struct ss_counters *counters);

/*
 * Returns whether to look again at the limits of the machine or a group: in the first reading of
 * each second of the clock, so that all readers notice a change in the same second.
 */
static inline bool ss_linux_limits_are_due(struct ss_counter_reader *reader, ss_time now) {
    bool due = now / SS_SECOND != reader->last_read / SS_SECOND;
    reader->last_read = now;
    return due;
}

/*
 * Opens the file with the CPU time of processes. Returns -1 with the reader's `reason` set if the
 * machine does not account CPU time or hides it from us.
 */
SS_NONNULL(1)
int ss_linux_runtime_open(struct ss_counter_reader *reader, const struct ss_platform_roots *roots);
SS_NONNULL()
int ss_linux_runtime_parse(struct ss_counter_reader *reader, struct ss_counters *counters);

/*
 * Read the CPU time of control groups of version 2, summed over the children of the root in
 * `folder`. ss_linux_groups_open() returns NULL, or why the sum is not the CPU time of the machine.
 */
SS_NONNULL(1, 3)
const char *ss_linux_groups_open(
    struct ss_counter_reader *reader, const struct ss_platform_roots *roots, const char *folder);
SS_NONNULL() int ss_linux_groups_read(struct ss_counter_reader *reader, uint64_t *used);
SS_NONNULL() int ss_linux_groups_reopen(struct ss_counter_reader *reader);
SS_NONNULL() void ss_linux_groups_close(struct ss_group_sum *sum);

/*
 * Read the time in idle states of the reader's CPUs. ss_linux_residency_open() returns NULL, or why
 * that time is not used. Once the files of a CPU can no longer be read, only its coarse count is
 * used.
 */
SS_NONNULL(1)
const char *ss_linux_residency_open(
    struct ss_counter_reader *reader, const struct ss_platform_roots *roots);
SS_NONNULL() void ss_linux_residency_reopen(struct ss_residencies *residencies);
SS_NONNULL() void ss_linux_residency_close(struct ss_residencies *residencies);
SS_NONNULL() void ss_linux_residency_read(struct ss_residencies *residencies);

/* Returns the idle time of a CPU, iowait included. `tick` is the length of a clock tick. */
SS_NONNULL()
uint64_t ss_linux_residency_refine(
    struct ss_residencies *residencies, const struct ss_cpu_times *times, uint64_t tick);

/* Returns whether at least `spare` more descriptors are available if `descriptor` stays open. */
bool ss_linux_has_spare_descriptors(int descriptor, unsigned spare);

static inline const char *ss_linux_proc(const struct ss_platform_roots *roots) {
    return roots && roots->proc ? roots->proc : "/proc";
}

static inline const char *ss_linux_cgroup_root(const struct ss_platform_roots *roots) {
    return roots && roots->cgroup ? roots->cgroup : "/sys/fs/cgroup";
}

static inline const char *ss_linux_sys(const struct ss_platform_roots *roots) {
    return roots && roots->sys ? roots->sys : "/sys";
}

/* CPU time that a group may use in each period. */
struct ss_linux_quota {
    double cpus;          /* average over a period; 0 without a limit */
    ss_time time, period; /* 0 without a limit */
    bool is_unreadable;   /* a group has a limit that cannot be read */
    char folder[SS_GROUP_PATH_SIZE];
};

/*
 * Replaces `tightest` with the tightest quota of a group and its ancestors if that is tighter. In a
 * container, even the root may have a limit.
 */
SS_NONNULL()
void ss_linux_tighten_quota(struct ss_linux_quota *tightest, const char *folder, const char *root);

/*
 * A path made of parts: open(ss_linux_path("/proc/%d", pid).text, ...). A path that is longer than
 * the kernel allows is cut to a length that the kernel still refuses.
 */
struct ss_linux_path {
    char text[PATH_MAX + 1];
};
SS_FORMAT(1, 2) struct ss_linux_path ss_linux_path(const char *format, ...);

/* Reads a small file as text, without trailing line feeds. Returns -1 if it cannot be read. */
SS_WRITES(2, 3) int ss_linux_read_text(const char *path, char *buffer, size_t size);

/*
 * Skips blanks, reads a decimal number, and returns its end. Does not use strtoull(): executors
 * read a number in every round, and after a sleep the C library is no longer cached.
 */
static inline const char *ss_linux_read_number(const char *at, uint64_t *number) {
    while (*at == ' ')
        at++;
    *number = 0;
    while (*at >= '0' && *at <= '9')
        *number = *number * 10 + (uint64_t)(*at++ - '0');
    return at;
}

/* Returns the number after a name in a text of several lines; 0 if absent. */
static inline uint64_t ss_linux_read_count(const char *text, const char *name) {
    uint64_t count = 0;
    const char *at = strstr(text, name);
    if (at)
        ss_linux_read_number(at + strlen(name), &count);
    return count;
}

/*
 * Reads the stat file of a process or thread and returns the text after the name: " S 1 ...", from
 * field 3 on; NULL if the file does not exist. The name in parentheses may contain anything, even
 * parentheses.
 */
SS_WRITES(2, 3) const char *ss_linux_read_stat(const char *path, char *text, size_t size);

/*
 * Reads the next line of a measured CPU and moves `*text` past it. `unit` is the length of a clock
 * tick in nanoseconds. Columns that an older kernel lacks are 0. Skips lines with fewer columns
 * than the oldest kernels wrote. Returns false if no complete line is left.
 */
SS_NONNULL()
bool ss_linux_stat_next(
    const char **text, const struct ss_cpus *cpus, uint64_t unit, struct ss_cpu_times *times);

/*
 * Reads a process or a thread by its ID, like ss_platform_process_info(), but `started` is always
 * the start time in clock ticks.
 */
SS_NONNULL() bool ss_linux_process_read(pid_t pid, struct ss_process *process);

/* Returns whether this is a live user process: not a kernel thread, exiting or gone. */
bool ss_linux_is_user_process(const struct ss_platform_roots *roots, pid_t pid);

/*
 * Opens a pidfd of the process that has this pid now. Returns a negative errno on failure: -ENOSYS
 * if pidfds cannot be opened or used for signals here.
 */
int ss_linux_pidfd_open(pid_t pid);

/* Returns a number that is unique to the process of a pidfd; 0 if not available. */
uint64_t ss_linux_pidfd_identity(int pidfd);

#endif
