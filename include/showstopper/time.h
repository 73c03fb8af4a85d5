/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TIME_H
#define SHOWSTOPPER_TIME_H

#include <stdint.h>

/* A point on the monotonic clock or a length of time, in nanoseconds. */
typedef uint64_t ss_time;

/* Later than every other time: "no end", "no deadline". */
#define SS_TIME_NEVER UINT64_MAX

#define SS_MICROSECOND UINT64_C(1000)
#define SS_MILLISECOND UINT64_C(1000000)
#define SS_SECOND      UINT64_C(1000000000)

/* Adds with saturation, so that a distant deadline never wraps into the past. */
static inline ss_time ss_time_add(ss_time a, ss_time b) {
    return a > SS_TIME_NEVER - b ? SS_TIME_NEVER : a + b;
}

/* Returns the time from `then` to `now`, or 0 if `then` is later. */
static inline ss_time ss_time_since(ss_time now, ss_time then) {
    return now > then ? now - then : 0;
}

static inline double ss_time_seconds(ss_time t) {
    return (double)t / 1e9;
}

/* Converts to a time. Negative numbers and NaN become 0, too large ones SS_TIME_NEVER. */
static inline ss_time ss_time_from_double(double nanoseconds) {
    if (!(nanoseconds > 0))
        return 0;
    return nanoseconds >= 18446744073709549568.0 ? SS_TIME_NEVER : (ss_time)nanoseconds;
}

#endif
