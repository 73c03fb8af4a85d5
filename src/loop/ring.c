/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/ring.h"

void ss_ring_put(struct ss_ring *ring, const struct ss_interval *interval) {
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (head - atomic_load_explicit(&ring->tail, memory_order_acquire) >= SS_RING_SLOTS) {
        atomic_fetch_add_explicit(&ring->lost, 1, memory_order_relaxed);
        return;
    }
    ring->slots[head % SS_RING_SLOTS] = *interval;
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

bool ss_ring_take(struct ss_ring *ring, struct ss_interval *interval) {
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (tail == atomic_load_explicit(&ring->head, memory_order_acquire))
        return false;
    *interval = ring->slots[tail % SS_RING_SLOTS];
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    return true;
}
