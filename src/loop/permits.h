/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_PERMITS_H
#define SHOWSTOPPER_LOOP_PERMITS_H

#include <stdatomic.h>
#include <stdbool.h>

#include <showstopper/permission.h>

/*
 * What all instances together are allowed, kept up by their executors at each change of state so
 * that any process can know it at any moment without asking them all. The word holds how many
 * instances run and a sum of times, so that one look sees both as of the same moment.
 */
struct ss_permits {
    _Atomic uint64_t given; /* sum of the times of stops, less that of continues */
};

/* One instance runs from now on, or no longer does. `own` is what was last said of it here. */
void ss_permits_set(struct ss_permits *permits, _Atomic uint32_t *own, ss_time now, bool runs);

void ss_permits_read(
    const struct ss_permits *permits, ss_time now, struct ss_permission *permission);

#endif
