/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/platform.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

ss_time ss_platform_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (ss_time)now.tv_sec * SS_SECOND + (ss_time)now.tv_nsec;
}

int64_t ss_platform_wallclock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * (int64_t)SS_SECOND + now.tv_nsec;
}

/*
 * FUTEX_WAIT_BITSET is the only call that takes an absolute deadline, checks the word again before
 * it sleeps and is interrupted by signals. So one system call per state suffices and no wake-up is
 * lost.
 */
void ss_platform_sleep(_Atomic uint32_t *word, uint32_t seen, ss_time deadline) {
    struct timespec until = {
        .tv_sec = (time_t)(deadline / SS_SECOND),
        .tv_nsec = (long)(deadline % SS_SECOND),
    };
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, deadline == SS_TIME_NEVER ? NULL : &until,
        NULL, FUTEX_BITSET_MATCH_ANY);
}

void ss_platform_wake(_Atomic uint32_t *word) {
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
