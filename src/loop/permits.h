/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_PERMITS_H
#define SHOWSTOPPER_LOOP_PERMITS_H

#include <stdatomic.h>
#include <stdbool.h>

#include <showstopper/permission.h>

/*
 * The run time that has been permitted to all instances together. Executors update it at each
 * change of state, so any process can read the total at any moment without querying them. One word
 * holds the number of running instances and a sum of times, so that a reader gets both as of the
 * same moment.
 */
struct ss_permits {
    _Atomic uint64_t given; /* the sum of the times of stops minus that of continues, and the number
                               of running instances */
};

/* Records whether an instance runs from now on. `own` holds the previous state of the instance. */
void ss_permits_set(struct ss_permits *permits, _Atomic uint32_t *own, ss_time now, bool runs);

void ss_permits_read(
    const struct ss_permits *permits, ss_time now, struct ss_permission *permission);

#endif
