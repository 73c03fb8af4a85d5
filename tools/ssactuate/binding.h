/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_BINDING_H
#define SSACTUATE_BINDING_H

#include <sys/types.h>

#include "placement.h"

/* A thread, identified by its ID and start time. */
struct ssactuate_thread {
    pid_t id;
    uint64_t started;
    uint32_t cpu; /* the CPU it is bound to */
    bool seen;    /* found by the latest scan */
};

/* Threads that are each bound to one CPU. */
struct ssactuate_binding {
    const struct topology_order *cpus;
    struct ssactuate_thread *threads;
    size_t count, room;
    struct ssactuate_thread *new_threads; /* threads found for the first time by this scan */
    size_t new_count, new_room;
    bool is_oversubscribed; /* there have been more threads than CPUs */
};

/* A scan of all threads: begin, visit each thread, end. */
SS_NONNULL() void ssactuate_binding_begin(struct ssactuate_binding *binding);
SS_NONNULL()
void ssactuate_binding_visit(struct ssactuate_binding *binding, pid_t id, uint64_t started);

/*
 * Forgets threads that have ended. Assigns each new thread, oldest first, to the first CPU with the
 * fewest threads, and calls `bind` to bind it.
 */
SS_NONNULL(1, 2)
void ssactuate_binding_end(struct ssactuate_binding *binding,
    void (*bind)(void *context, pid_t id, uint32_t cpu), void *context);

SS_NONNULL() void ssactuate_binding_free(struct ssactuate_binding *binding);

#endif
