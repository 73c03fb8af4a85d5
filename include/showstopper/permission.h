/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_PERMISSION_H
#define SHOWSTOPPER_PERMISSION_H

#include <stdint.h>

#include <showstopper/time.h>

/* `given` wraps to 0 after this many nanoseconds: months of one instance's time. */
#define SS_PERMISSION_WRAPS (UINT64_C(1) << 54)

/* How long the instances of a run have been allowed to run, summed over all instances. */
struct ss_permission {
    uint64_t given; /* nanoseconds so far, in microsecond resolution; see ss_permission_between() */
    uint32_t running; /* number of instances that may run now */
};

/* Returns the time given between two readings; negative if `to` is the earlier reading. */
static inline double ss_permission_between(uint64_t from, uint64_t to) {
    uint64_t between = (to - from) % SS_PERMISSION_WRAPS;
    return between < SS_PERMISSION_WRAPS / 2 ? (double)between
                                             : -(double)(SS_PERMISSION_WRAPS - between);
}

#endif
