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
    size_t size;  /* of the ring: the limit, and one for each worker that may be idle */
    size_t first; /* in the ring: index of the oldest */
    size_t waiting;
    size_t limit; /* how many may wait while all workers are busy */
    size_t workers;
    size_t busy; /* workers that have taken an item and not finished it */
    size_t max;  /* largest number that waited for a busy worker */
    bool closed;
};

/* Opens a queue. With `limit` 0 it has room only while a worker is idle. */
SS_MUST_USE SS_NONNULL(1) int serve_queue_open(
    struct serve_queue *queue, size_t limit, size_t workers, struct ss_error *error);

/* No thread may use the queue any more. */
SS_NONNULL()
void serve_queue_free(struct serve_queue *queue);

/* Returns false if the queue is full or closed; the item then stays the caller's. */
SS_NONNULL()
bool serve_queue_put(struct serve_queue *queue, void *item);

/* Waits for an item. For workers. Returns NULL when the queue has been closed. */
SS_NONNULL()
void *serve_queue_take(struct serve_queue *queue);

/* Says that the calling worker has finished its item. */
SS_NONNULL()
void serve_queue_done(struct serve_queue *queue);

/* Accepts and gives out no more items. */
SS_NONNULL()
void serve_queue_close(struct serve_queue *queue);

/* Waits until no worker is busy, which lasts only if the queue is closed. */
SS_NONNULL()
void serve_queue_settle(struct serve_queue *queue);

/* Returns the next item that was waiting when the queue was closed; NULL after the last. */
SS_NONNULL()
void *serve_queue_drain(struct serve_queue *queue);

#endif
