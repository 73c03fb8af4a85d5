/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct threads {
    pthread_mutex_t mutex; /* held until all threads have been created */
    bool canceled;
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
    bool canceled = threads->canceled;
    pthread_mutex_unlock(&threads->mutex);

    if (!canceled)
        threads->work(threads->shared, member->number);
    return NULL;
}

int threads_run(uint64_t count, void (*work)(void *shared, uint64_t number), void *shared,
    struct ss_error *error) {
    struct threads threads = {PTHREAD_MUTEX_INITIALIZER, false, work, shared};
    struct member *members = calloc(count, sizeof *members);
    if (!members)
        return ss_error_memory(error);

    uint64_t created = 0;
    int failure = 0;

    pthread_mutex_lock(&threads.mutex);
    while (created < count && !failure) {
        struct member *member = &members[created];
        member->threads = &threads;
        member->number = created;
        failure = pthread_create(&member->thread, NULL, member_main, member);
        created += !failure;
    }
    threads.canceled = failure;
    pthread_mutex_unlock(&threads.mutex);

    for (uint64_t i = 0; i < created; i++)
        pthread_join(members[i].thread, NULL);
    free(members);

    return failure ? ss_error_fail(error, "cannot create a thread: %s", strerror(failure)) : 0;
}
