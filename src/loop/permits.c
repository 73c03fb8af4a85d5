/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/permits.h"

/*
 * A time is in units of 1024 ns, modulo 2^44; the upper bits hold the number of running instances.
 */
#define UNIT_BITS 10
#define TIME_BITS 44
#define TIME_MASK ((UINT64_C(1) << TIME_BITS) - 1)

_Static_assert(SS_PERMISSION_WRAPS == UINT64_C(1) << (TIME_BITS + UNIT_BITS), "see the header");

void ss_permits_set(struct ss_permits *permits, _Atomic uint32_t *own, ss_time now, bool runs) {
    if (atomic_load(own) == runs)
        return;
    uint64_t instances = runs ? 1 : UINT64_MAX;
    uint64_t present = now >> UNIT_BITS;
    uint64_t old = atomic_load(&permits->given);
    uint64_t new;
    do {
        uint64_t time = runs ? old - present : old + present;
        new = ((old >> TIME_BITS) + instances) << TIME_BITS | (time & TIME_MASK);
    } while (!atomic_compare_exchange_weak(&permits->given, &old, new));
    atomic_store(own, runs);
}

void ss_permits_read(
    const struct ss_permits *permits, ss_time now, struct ss_permission *permission) {
    uint64_t present = now >> UNIT_BITS;
    uint64_t given = atomic_load(&permits->given);
    *permission = (struct ss_permission){
        .given = ((given + (given >> TIME_BITS) * present) & TIME_MASK) << UNIT_BITS,
        .running = (uint32_t)(given >> TIME_BITS),
    };
}
