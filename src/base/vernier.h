/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_BASE_VERNIER_H
#define SHOWSTOPPER_BASE_VERNIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <showstopper/error.h>

/*
 * Combines two counts of the same thing: a coarse one, which is complete but moves in steps, and a
 * fine one, which at times lags and over long times drifts. The result follows the fine one over
 * short times and the coarse one over long times: it is the fine count plus an offset, which slowly
 * follows the difference of the two. It is never below the coarse count or more than a step above
 * it.
 *
 * In shared memory it serves several processes. They may read at the same time: at worst the offset
 * is that of the previous reading. Zeroed: nothing is known yet.
 */
struct ss_vernier {
    _Atomic uint64_t offset; /* modulo 2^64 */
    _Atomic uint64_t last;   /* result */
    atomic_bool begun;
};

struct ss_vernier_reading {
    uint64_t coarse;
    uint64_t step; /* the coarse count is below the truth by less than this */
    uint64_t fine;
    bool prompt; /* the fine count does not lag at this moment */
};

/* Returns the combined count, which does not fall as long as both counts grow. */
SS_NONNULL()
uint64_t ss_vernier_read(struct ss_vernier *vernier, const struct ss_vernier_reading *reading);

#endif
