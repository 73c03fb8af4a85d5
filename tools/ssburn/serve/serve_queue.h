/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_QUEUE_H
#define SSBURN_SERVE_QUEUE_H

/* The requests that wait for a worker: first come, first served, up to a limit. */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

struct serve_queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* an item is available, or the queue was closed */
    pthread_cond_t settled; /* no worker is busy */
    void **ring;
    size_t size;  /* size of the ring: the limit, plus one for each worker, which may be idle */
    size_t first; /* index of the oldest item in the ring */
    size_t waiting;
    size_t limit; /* how many may wait while all workers are busy */
    size_t workers;
    size_t busy;        /* number of workers that have taken an item and not finished it */
    size_t waiting_max; /* largest number of items that waited for a busy worker */
    bool closed;
};

/* Opens a queue. If `limit` is 0, it has room only while a worker is idle. */
SS_MUST_USE SS_NONNULL(1) int serve_queue_open(
    struct serve_queue *queue, size_t limit, size_t workers, struct ss_error *error);

/* Frees the queue. No other thread may still use it. */
SS_NONNULL() void serve_queue_free(struct serve_queue *queue);

/*
 * Adds an item. Returns false if the queue is full or closed; the caller then still owns the item.
 */
SS_NONNULL() bool serve_queue_put(struct serve_queue *queue, void *item);

/* Waits for an item. Returns NULL if the queue is closed. Called by workers. */
SS_NONNULL() void *serve_queue_take(struct serve_queue *queue);

/* Reports that a worker has finished its item. Called by workers. */
SS_NONNULL() void serve_queue_done(struct serve_queue *queue);

/* Closes the queue: no more items are accepted or given out. */
SS_NONNULL() void serve_queue_close(struct serve_queue *queue);

/* Waits until no worker is busy. Call this after closing the queue. */
SS_NONNULL() void serve_queue_settle(struct serve_queue *queue);

/* Returns the next item that was waiting when the queue was closed; NULL after the last one. */
SS_NONNULL() void *serve_queue_drain(struct serve_queue *queue);

#endif
