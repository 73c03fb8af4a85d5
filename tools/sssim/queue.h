/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_QUEUE_H
#define SSSIM_QUEUE_H

#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

/* Which sleeper is to be woken next: a heap of sleepers, which are numbers from 0 on. */
struct queue {
    ss_time *due;    /* of each sleeper; SS_TIME_NEVER: only when it is woken */
    uint32_t *order; /* the heap: sleepers */
    uint32_t *place; /* of each sleeper in the heap */
    uint32_t count;
};

/* None is due. */
int queue_open(struct queue *queue, uint32_t count, struct ss_error *error);

void queue_close(struct queue *queue);

void queue_set(struct queue *queue, uint32_t sleeper, ss_time due);

/* The one due first. Those due at one instant go by number, so that the order never depends on the
 * past. */
static inline uint32_t queue_first(const struct queue *queue) {
    return queue->order[0];
}

#endif
