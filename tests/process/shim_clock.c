/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into the program under test, shifts the wall clock: SS_TEST_CLOCK=SECONDS:MS moves it
 * by SECONDS, MS milliseconds after the start; SS_TEST_CLOCK=SECONDS:FILE, once the absolute path
 * FILE exists. The monotonic clock is not affected.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static long shift;             /* seconds */
static long long shifted_from; /* milliseconds on the monotonic clock */
static char file_name[256];

static int read_clock(clockid_t clock, struct timespec *time) {
    return (int)syscall(SYS_clock_gettime, clock, time);
}

static long long now(void) {
    struct timespec time;
    read_clock(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

__attribute__((constructor)) static void open_clock(void) {
    long after;
    const char *text = getenv("SS_TEST_CLOCK");
    if (!text || sscanf(text, "%ld:%255s", &shift, file_name) != 2 || *file_name == '/')
        return;
    if (sscanf(file_name, "%ld", &after) == 1)
        shifted_from = now() + after;
    *file_name = '\0';
}

static bool is_due(void) {
    int why = errno;
    bool due = *file_name ? access(file_name, F_OK) == 0 : now() >= shifted_from;
    errno = why;
    return due;
}

PUBLIC int clock_gettime(clockid_t clock, struct timespec *time) {
    int status = read_clock(clock, time);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) && is_due())
        time->tv_sec += shift;
    return status;
}

PUBLIC int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    *time = (struct timeval){exact.tv_sec, exact.tv_nsec / 1000};
    return 0;
}

PUBLIC time_t time(time_t *where) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (where)
        *where = exact.tv_sec;
    return exact.tv_sec;
}

/* The calls of 32-bit programs whose time has 64 bits. */
#if __SIZEOF_LONG__ == 4

struct clock64 {
    int64_t seconds;
    int32_t nanoseconds, padding;
};

struct day64 {
    int64_t seconds, microseconds;
};

int __clock_gettime64(clockid_t clock, struct clock64 *time);
int __gettimeofday64(struct day64 *time, void *zone);
int64_t __time64(int64_t *where);

PUBLIC int __clock_gettime64(clockid_t clock, struct clock64 *time) {
    struct timespec exact;
    int status = clock_gettime(clock, &exact);
    *time = (struct clock64){exact.tv_sec, (int32_t)exact.tv_nsec, 0};
    return status;
}

PUBLIC int __gettimeofday64(struct day64 *time, void *zone) {
    struct timeval exact;
    gettimeofday(&exact, zone);
    *time = (struct day64){exact.tv_sec, exact.tv_usec};
    return 0;
}

PUBLIC int64_t __time64(int64_t *where) {
    int64_t now = time(NULL);
    if (where)
        *where = now;
    return now;
}

#endif
