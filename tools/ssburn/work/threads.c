/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <pthread.h>
#include <stdlib.h>

enum gate { GATE_SHUT, GATE_OPEN, GATE_CANCELED };

struct threads {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    enum gate gate;
    void (*work)(void *shared, uint64_t number);
    void *shared;
};

struct member {
    struct threads *threads;
    uint64_t number;
    pthread_t thread;
};

static void *member_main(void *argument) {
    struct member *member = argument;
    struct threads *threads = member->threads;
    pthread_mutex_lock(&threads->mutex);
    while (threads->gate == GATE_SHUT)
        pthread_cond_wait(&threads->changed, &threads->mutex);
    enum gate gate = threads->gate;
    pthread_mutex_unlock(&threads->mutex);
    if (gate == GATE_OPEN)
        threads->work(threads->shared, member->number);
    return NULL;
}

static void gate_set(struct threads *threads, enum gate gate) {
    pthread_mutex_lock(&threads->mutex);
    threads->gate = gate;
    pthread_cond_broadcast(&threads->changed);
    pthread_mutex_unlock(&threads->mutex);
}

int threads_run(uint64_t count, void (*work)(void *shared, uint64_t number), void *shared,
    struct ss_error *error) {
    struct threads threads = {
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, GATE_SHUT, work, shared};
    struct member *members = calloc(count, sizeof *members);
    if (!members)
        return ss_error_memory(error);
    uint64_t created = 0;
    int failure = 0;
    while (created < count && !failure) {
        struct member *member = &members[created];
        member->threads = &threads;
        member->number = created;
        failure = pthread_create(&member->thread, NULL, member_main, member);
        created += !failure;
    }
    gate_set(&threads, failure ? GATE_CANCELED : GATE_OPEN);
    for (uint64_t i = 0; i < created; i++)
        pthread_join(members[i].thread, NULL);
    free(members);
    return failure ? ss_error_fail(error, "cannot create a thread: %s", strerror(failure)) : 0;
}
