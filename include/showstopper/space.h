/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SPACE_H
#define SHOWSTOPPER_SPACE_H

#include <showstopper/module.h>

struct ss_place {
    uint32_t rank;  /* position of this instance among the living ones: 0 to count - 1 */
    uint32_t count; /* number of living instances, at least 1 */
    ss_time time;   /* time since the trace's start */
};

struct ss_space_module {
    struct ss_module head;

    /*
     * Returns this instance's share of the global duty, from 0 to 1; the mean over all ranks must
     * be the global duty. Called in the executor on the timing path: must not block or allocate.
     */
    double (*local_duty)(
        const struct ss_self *self, const struct ss_place *place, double global_duty);
};

#endif
