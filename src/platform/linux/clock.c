/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/platform.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * (int64_t)SS_SECOND + now.tv_nsec;
}

ss_time ss_platform_now(void) {
    return (ss_time)read_clock(CLOCK_MONOTONIC);
}

ss_time ss_platform_own_cpu_time(void) {
    return (ss_time)read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t ss_platform_wallclock(void) {
    return read_clock(CLOCK_REALTIME);
}

/*
 * Number of attempts. A delay between two readings distorts an offset, so the attempt with the
 * shortest delay is used.
 */
#define ATTEMPTS 10

struct ss_clock_offsets ss_platform_clock_offsets(void) {
    struct ss_clock_offsets offsets = {0};
    int64_t shortest = INT64_MAX;
    for (int i = 0; i < ATTEMPTS; i++) {
        int64_t begin = read_clock(CLOCK_MONOTONIC);
        int64_t wall = read_clock(CLOCK_REALTIME);
        int64_t boot = read_clock(CLOCK_BOOTTIME);
        int64_t length = read_clock(CLOCK_MONOTONIC) - begin;
        if (length >= shortest)
            continue;

        shortest = length;
        offsets = (struct ss_clock_offsets){.wall = wall - begin, .boot = boot - begin};
    }
    return offsets;
}

/*
 * FUTEX_WAIT_BITSET takes an absolute deadline, checks the word again before it sleeps, and is
 * interrupted by signals. So one system call per state suffices, and no wake-up is lost.
 */
void ss_platform_sleep(_Atomic uint32_t *word, uint32_t seen, ss_time deadline) {
    ss_time seconds = deadline / SS_SECOND;
    /* The call that every kernel has takes two longs, whatever the width of time_t. */
    const struct {
        long seconds, nanoseconds;
    } until = {
        .seconds = seconds < INT32_MAX ? (long)seconds : INT32_MAX,
        .nanoseconds = (long)(deadline % SS_SECOND),
    };
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, deadline == SS_TIME_NEVER ? NULL : &until,
        NULL, FUTEX_BITSET_MATCH_ANY);
}

void ss_platform_sleep_until(ss_time deadline) {
    _Atomic uint32_t nothing = 0;
    ss_platform_sleep(&nothing, 0, deadline);
}

void ss_platform_wake(_Atomic uint32_t *word) {
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
