/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_SLEEPERS_H
#define SSSIM_SLEEPERS_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

/* A priority queue of sleepers, numbered from 0, by the virtual time at which they wake. */
struct sleepers {
    ss_time *due;    /* when each sleeper wakes; SS_TIME_NEVER if it does not */
    uint32_t *order; /* the heap of sleepers */
    uint32_t *place; /* position of each sleeper in the heap */
    uint32_t count;
};

/* Opens the queue; no sleeper is due. */
SS_MUST_USE SS_NONNULL(1) int sleepers_open(
    struct sleepers *sleepers, uint32_t count, struct ss_error *error);

SS_NONNULL() void sleepers_close(struct sleepers *sleepers);

SS_NONNULL() void sleepers_set(struct sleepers *sleepers, uint32_t sleeper, ss_time due);

/*
 * Returns the sleeper that wakes first. Sleepers that are due at the same time are ordered by
 * number, so that the order does not depend on earlier changes.
 */
static inline uint32_t sleepers_first(const struct sleepers *sleepers) {
    return sleepers->order[0];
}

#endif
