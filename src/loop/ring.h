/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_LOOP_RING_H
#define SHOWSTOPPER_LOOP_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <showstopper/time.h>

/* One state of an instance under control, from its decision to the next one. */
struct ss_interval {
    uint64_t begin;   /* on the monotonic clock, ns */
    uint64_t planned; /* planned length, ns */
    uint64_t length;  /* actual length, ns */
    double target;
    double load; /* the estimate; NaN if unknown */
    double global_duty;
    double local_duty;
    uint32_t state; /* enum ss_state */
    uint32_t unused;
};

/*
 * Holds the states of about half a minute, at the default length of a round, until the master reads
 * them.
 */
#define SS_RING_SLOTS 512

/*
 * A queue from one executor to the master. Neither ever waits for the other: states that do not fit
 * are counted as lost.
 */
struct ss_ring {
    _Alignas(64) _Atomic uint64_t head; /* executor: number of states put in */
    _Atomic uint64_t lost;              /* executor: number of states that did not fit */
    _Alignas(64) _Atomic uint64_t tail; /* master: number of states taken out */
    struct ss_interval slots[SS_RING_SLOTS];
};

void ss_ring_put(struct ss_ring *ring, const struct ss_interval *interval);

/* Takes the oldest state out. Returns false if the ring is empty. */
bool ss_ring_take(struct ss_ring *ring, struct ss_interval *interval);

#endif
