/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_COMBINED_COUNTER_H
#define SHOWSTOPPER_BASE_COMBINED_COUNTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <showstopper/error.h>

/*
 * Combines two counts of the same quantity: a coarse one, which is complete but moves in steps, and
 * a fine one, which lags at times and drifts in the long run. The result follows the fine count
 * over short times and the coarse count over long times: it is the fine count plus an offset, which
 * slowly follows their difference. It is never below the coarse count, nor more than a step above
 * it.
 *
 * A counter in shared memory serves several processes. They may read at the same time: at worst the
 * state of an earlier reading remains. A zeroed counter is ready for use.
 */
struct ss_combined_counter {
    _Atomic uint64_t offset; /* modulo 2^64 */
    _Atomic uint64_t last;   /* the latest result */
    atomic_bool begun;
};

struct ss_combined_reading {
    uint64_t coarse;
    uint64_t step; /* upper bound of how far the coarse count is below the true count */
    uint64_t fine;
    bool fine_is_current; /* the fine count does not lag in this reading */
};

/* Returns the combined count, which never falls as long as neither count falls. */
SS_NONNULL()
uint64_t ss_combined_counter_read(
    struct ss_combined_counter *counter, const struct ss_combined_reading *reading);

#endif
