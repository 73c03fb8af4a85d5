/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_SLEEPERS_H
#define SSSIM_SLEEPERS_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

/* All that wakes at moments of virtual time, by numbers from 0 on: which one is next. */
struct sleepers {
    ss_time *due;    /* of each sleeper; SS_TIME_NEVER: only when it is woken */
    uint32_t *order; /* the heap: sleepers */
    uint32_t *place; /* of each sleeper in the heap */
    uint32_t count;
};

/* None is due. */
SS_MUST_USE SS_NONNULL(1) int sleepers_open(
    struct sleepers *sleepers, uint32_t count, struct ss_error *error);

SS_NONNULL()
void sleepers_close(struct sleepers *sleepers);

SS_NONNULL()
void sleepers_set(struct sleepers *sleepers, uint32_t sleeper, ss_time due);

/* The one due first. Those due at one instant go by number, so that the order never depends on the
 * past. */
static inline uint32_t sleepers_first(const struct sleepers *sleepers) {
    return sleepers->order[0];
}

#endif
