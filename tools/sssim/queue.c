/* SPDX-License-Identifier: Apache-2.0 */
#include "queue.h"

#include <stdbool.h>
#include <stdlib.h>

static bool goes_before(const struct queue *queue, uint32_t a, uint32_t b) {
    return queue->due[a] != queue->due[b] ? queue->due[a] < queue->due[b] : a < b;
}

static void put(struct queue *queue, uint32_t place, uint32_t sleeper) {
    queue->order[place] = sleeper;
    queue->place[sleeper] = place;
}

static void sift_up(struct queue *queue, uint32_t sleeper) {
    uint32_t place = queue->place[sleeper];
    while (place > 0 && goes_before(queue, sleeper, queue->order[(place - 1) / 2])) {
        put(queue, place, queue->order[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(queue, place, sleeper);
}

static void sift_down(struct queue *queue, uint32_t sleeper) {
    uint32_t place = queue->place[sleeper];
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= queue->count)
            break;
        if (child + 1 < queue->count &&
            goes_before(queue, queue->order[child + 1], queue->order[child]))
            child++;
        if (goes_before(queue, sleeper, queue->order[child]))
            break;
        put(queue, place, queue->order[child]);
        place = child;
    }
    put(queue, place, sleeper);
}

void queue_set(struct queue *queue, uint32_t sleeper, ss_time due) {
    if (queue->due[sleeper] == due)
        return;
    queue->due[sleeper] = due;
    sift_up(queue, sleeper);
    sift_down(queue, sleeper);
}

int queue_open(struct queue *queue, uint32_t count, struct ss_error *error) {
    *queue = (struct queue){
        .due = calloc(count, sizeof *queue->due),
        .order = calloc(count, sizeof *queue->order),
        .place = calloc(count, sizeof *queue->place),
        .count = count,
    };
    if (!queue->due || !queue->order || !queue->place)
        return ss_error_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        queue->due[i] = SS_TIME_NEVER;
        put(queue, i, i);
    }
    return 0;
}

void queue_close(struct queue *queue) {
    free(queue->due);
    free(queue->order);
    free(queue->place);
}
