/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "burn.h"
#include "threads.h"

/*
 * Tokens circulate in a ring of threads; a thread with a token works and passes it on. Two thirds
 * of the work of a hop are done under one mutex, so an instance can use at most one and a half
 * CPUs, no matter how many there are. With fewer tokens the mutex would often be free, and the CPU
 * usage would depend on how fast the machine wakes a thread.
 */
#define TOKENS    4
#define HOP_UNITS UINT64_C(24000) /* about 60 us */
#define HOP_STEPS UINT64_C(2000)  /* with a working set, where a unit takes longer */

struct seat {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned tokens; /* number of tokens that wait for the thread of this seat */
    bool closed;
};

struct ring {
    struct burn *burn;
    struct ss_error *error;
    struct seat *seats;
    uint64_t hop;    /* units of a hop */
    uint64_t locked; /* units of a hop that are done under the mutex */
    uint64_t hops;   /* hops of an iteration */
    pthread_mutex_t mutex;
    uint64_t left; /* hops left in this iteration; protected by the mutex, as is `more` */
    int more;      /* last result of the tally */
};

static void seat_put(struct seat *seat, unsigned tokens, bool close) {
    pthread_mutex_lock(&seat->mutex);
    seat->tokens += tokens;
    seat->closed |= close;
    pthread_cond_signal(&seat->changed);
    pthread_mutex_unlock(&seat->mutex);
}

/* Takes a token. Returns false if the ring was closed. */
static bool seat_take(struct seat *seat) {
    pthread_mutex_lock(&seat->mutex);
    while (seat->tokens == 0 && !seat->closed)
        pthread_cond_wait(&seat->changed, &seat->mutex);
    bool open = !seat->closed;
    seat->tokens -= open;
    pthread_mutex_unlock(&seat->mutex);
    return open;
}

static void ring_close(struct ring *ring) {
    for (uint64_t i = 0; i < ring->burn->threads; i++)
        seat_put(&ring->seats[i], 0, true);
}

static void work_hop(struct ring *ring, struct worker *worker) {
    work_do(worker, ring->hop - ring->locked);

    pthread_mutex_lock(&ring->mutex);
    work_do(worker, ring->locked);
    bool ended = false;
    if (ring->more > 0 && --ring->left == 0) {
        ring->left = ring->hops;
        ring->more = tally_count(&ring->burn->tally, ring->error);
        ended = ring->more <= 0;
    }
    pthread_mutex_unlock(&ring->mutex);

    if (ended)
        ring_close(ring);
}

static void ring_thread(void *shared, uint64_t number) {
    struct ring *ring = shared;
    struct seat *next = &ring->seats[(number + 1) % ring->burn->threads];
    struct worker worker;

    work_begin(&worker, &ring->burn->memory, number);
    while (seat_take(&ring->seats[number])) {
        work_hop(ring, &worker);
        seat_put(next, 1, false);
    }
}

int burn_blocking(struct burn *burn, struct ss_error *error) {
    struct ring ring = {
        .burn = burn, .error = error, .mutex = PTHREAD_MUTEX_INITIALIZER, .more = 1};

    ring.hops = burn->work / (burn->memory.count > 0 ? HOP_STEPS : HOP_UNITS) + 1;
    ring.left = ring.hops;
    ring.hop = burn->work / ring.hops;
    ring.locked = ring.hop / 3 * 2;

    ring.seats = calloc(burn->threads, sizeof *ring.seats);
    if (!ring.seats)
        return ss_error_memory(error);

    for (uint64_t i = 0; i < burn->threads; i++) {
        pthread_mutex_init(&ring.seats[i].mutex, NULL);
        pthread_cond_init(&ring.seats[i].changed, NULL);
    }

    for (uint64_t token = 0; token < TOKENS; token++)
        seat_put(&ring.seats[token * burn->threads / TOKENS], 1, false);

    int result = threads_run(burn->threads, ring_thread, &ring, error);
    free(ring.seats);
    return result < 0 ? result : ring.more;
}
