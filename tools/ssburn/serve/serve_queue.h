/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_QUEUE_H
#define SSBURN_SERVE_QUEUE_H

/* The requests that wait for a worker: first come, first served, and not more than so many. */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

struct serve_queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* there is one to take, or it was closed */
    pthread_cond_t settled; /* no worker is busy */
    void **ring;
    size_t size;  /* of the ring: what may wait, and one for each worker that may be idle */
    size_t first; /* in the ring: the one that waits longest */
    size_t waiting;
    size_t limit; /* that may wait while all workers are busy */
    size_t workers;
    size_t busy; /* workers that have taken one and not said that it is done */
    size_t max;  /* that waited at a time for a busy worker */
    bool closed;
};

/* `limit` may be 0: then there is room only while a worker is idle. */
SS_MUST_USE SS_NONNULL(1) int serve_queue_open(
    struct serve_queue *queue, size_t limit, size_t workers, struct ss_error *error);

/* No worker and no other thread may use it any more. */
SS_NONNULL()
void serve_queue_free(struct serve_queue *queue);

/* False: it is full or closed, and the item is still the caller's. */
SS_NONNULL()
bool serve_queue_put(struct serve_queue *queue, void *item);

/* For workers. Waits for an item; NULL: the queue was closed. */
SS_NONNULL()
void *serve_queue_take(struct serve_queue *queue);

/* The item that the calling worker took has been done. */
SS_NONNULL()
void serve_queue_done(struct serve_queue *queue);

/* From now on nothing is put in or taken. */
SS_NONNULL()
void serve_queue_close(struct serve_queue *queue);

/* Waits until no worker is busy. Only a closed queue stays so. */
SS_NONNULL()
void serve_queue_settle(struct serve_queue *queue);

/* The next request that was waiting when the queue was closed; NULL after the last. */
SS_NONNULL()
void *serve_queue_drain(struct serve_queue *queue);

#endif
