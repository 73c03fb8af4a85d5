/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_queue.h"

#include <stdlib.h>

int serve_queue_open(
    struct serve_queue *queue, size_t limit, size_t workers, struct ss_error *error) {
    *queue = (struct serve_queue){.mutex = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .settled = PTHREAD_COND_INITIALIZER,
        .size = limit + workers,
        .limit = limit,
        .workers = workers};
    queue->ring = calloc(queue->size, sizeof *queue->ring);
    return queue->ring ? 0 : ss_error_memory(error);
}

void serve_queue_free(struct serve_queue *queue) {
    free(queue->ring);
    queue->ring = NULL;
}

/* Returns how many requests wait for a busy worker. */
static size_t count_stuck(const struct serve_queue *queue) {
    size_t idle = queue->workers - queue->busy;
    return queue->waiting > idle ? queue->waiting - idle : 0;
}

/*
 * Adds an item. A worker counts as idle once it has finished its item, even if it is not running
 * yet, so that the room in the queue does not depend on the kernel's scheduling.
 */
bool serve_queue_put(struct serve_queue *queue, void *item) {
    pthread_mutex_lock(&queue->mutex);
    size_t idle = queue->workers - queue->busy;
    bool taken = !queue->closed && queue->waiting < queue->limit + idle;

    if (taken) {
        queue->ring[(queue->first + queue->waiting++) % queue->size] = item;
        size_t stuck = count_stuck(queue);
        queue->waiting_max = stuck > queue->waiting_max ? stuck : queue->waiting_max;
        pthread_cond_signal(&queue->changed);
    }

    pthread_mutex_unlock(&queue->mutex);
    return taken;
}

static void *remove_first(struct serve_queue *queue) {
    void *item = queue->ring[queue->first];
    queue->first = (queue->first + 1) % queue->size;
    queue->waiting--;
    return item;
}

void *serve_queue_take(struct serve_queue *queue) {
    void *item = NULL;
    pthread_mutex_lock(&queue->mutex);
    while (!queue->closed && queue->waiting == 0)
        pthread_cond_wait(&queue->changed, &queue->mutex);

    if (!queue->closed) {
        item = remove_first(queue);
        queue->busy++;
    }

    pthread_mutex_unlock(&queue->mutex);
    return item;
}

void serve_queue_done(struct serve_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    if (--queue->busy == 0)
        pthread_cond_broadcast(&queue->settled);
    pthread_mutex_unlock(&queue->mutex);
}

void serve_queue_close(struct serve_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

void serve_queue_settle(struct serve_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->busy > 0)
        pthread_cond_wait(&queue->settled, &queue->mutex);
    pthread_mutex_unlock(&queue->mutex);
}

void *serve_queue_drain(struct serve_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    void *item = queue->closed && queue->waiting > 0 ? remove_first(queue) : NULL;
    pthread_mutex_unlock(&queue->mutex);
    return item;
}
