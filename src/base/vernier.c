/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vernier.h"

/*
 * The true count lies between the coarse one and a step above it. So does the fine one plus the
 * offset, unless the fine one lags, which is no reason to raise the offset. Moved no further than
 * these bounds demand, the offset settles, because the bounds close in on it: steps fall at any
 * moment. What it then moves is what the fine count misses.
 *
 * It begins above the lower bound, or it would move often at first; but near it, because the coarse
 * count shows a lag only once it has passed the sum.
 */
uint64_t ss_vernier_read(struct ss_vernier *vernier, const struct ss_vernier_reading *reading) {
    uint64_t least = reading->coarse - reading->fine;
    uint64_t offset = atomic_load(&vernier->offset);
    if (!atomic_load(&vernier->begun))
        offset = least + reading->step / 4;
    int64_t above = (int64_t)(offset - least);
    if (above > (int64_t)reading->step)
        offset = least + reading->step;
    else if (above < 0 && reading->prompt)
        offset = least;
    atomic_store(&vernier->offset, offset);
    atomic_store(&vernier->begun, true);
    return above < 0 ? reading->coarse : reading->fine + offset;
}
