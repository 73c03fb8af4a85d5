/* SPDX-License-Identifier: Apache-2.0 */
#include "run/recent_iterations.h"

/* The executor may be writing the slot of one more iteration, which is not counted yet. */
#define KEPT (SS_ROW_ITERATIONS - 1)

void ss_recent_iterations_put(struct ss_row *row, ss_time start, ss_time end) {
    uint64_t count = atomic_load(&row->iterations);
    struct ss_iteration_slot *slot = &row->recent_iterations[count % SS_ROW_ITERATIONS];
    atomic_store(&slot->start, start);
    atomic_store(&slot->end, end);
    atomic_store(&row->iterations, count + 1);
}

void ss_recent_iterations_take(
    const struct ss_row *row, uint64_t *seen, struct ss_iterations *iterations, uint32_t instance) {
    uint64_t count = atomic_load(&row->iterations);
    while (*seen < count) {
        uint64_t next = count - *seen > KEPT ? count - KEPT : *seen;
        const struct ss_iteration_slot *slot = &row->recent_iterations[next % SS_ROW_ITERATIONS];
        ss_time start = atomic_load(&slot->start), end = atomic_load(&slot->end);

        uint64_t latest = atomic_load(&row->iterations);
        if (latest - next > KEPT) {
            count = latest; /* the slot may have been overwritten meanwhile */
            continue;
        }

        ss_iterations_add_evenly(iterations, instance, (uint32_t)(next - *seen), start);
        ss_iterations_add(iterations, instance, start, end);
        *seen = next + 1;
    }
}
