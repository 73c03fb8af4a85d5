/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>

#include "burn.h"
#include "crew.h"

/* An iteration ends with threads waiting for the last share: short beside the iteration, but long
   beside the cost of taking it. */
#define SHARES_PER_THREAD 32
#define SHARE_UNITS_MAX   UINT64_C(500000)

struct parallel {
    struct burn *burn;
    struct ss_error *error;
    pthread_barrier_t barrier;
    _Atomic uint64_t taken; /* units of this iteration, may exceed them at its end */
    uint64_t share;         /* units */
    int more;               /* what the tally said; written between the two waits of a round */
};

static void work_shares(struct parallel *parallel, struct work_hand *hand) {
    uint64_t all = parallel->burn->work;
    for (;;) {
        uint64_t from = atomic_fetch_add(&parallel->taken, parallel->share);
        if (from >= all)
            return;
        work_do(hand, all - from < parallel->share ? all - from : parallel->share);
    }
}

static void parallel_thread(void *shared, uint64_t number) {
    struct parallel *parallel = shared;
    struct work_hand hand;
    work_begin(&hand, &parallel->burn->memory, number);
    do {
        work_shares(parallel, &hand);
        if (pthread_barrier_wait(&parallel->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
            parallel->more = tally_count(&parallel->burn->tally, parallel->error);
            atomic_store(&parallel->taken, 0);
        }
        pthread_barrier_wait(&parallel->barrier);
    } while (parallel->more > 0);
}

int burn_parallel(struct burn *burn, struct ss_error *error) {
    struct parallel parallel = {.burn = burn, .error = error};
    parallel.share = burn->work / (SHARES_PER_THREAD * burn->threads) + 1;
    if (parallel.share > SHARE_UNITS_MAX)
        parallel.share = SHARE_UNITS_MAX;
    int failure = pthread_barrier_init(&parallel.barrier, NULL, (unsigned)burn->threads);
    if (failure)
        return ss_error_set(error, 1, "cannot make a barrier: %s", strerror(failure));
    int result = crew_run(burn->threads, parallel_thread, &parallel, error);
    pthread_barrier_destroy(&parallel.barrier);
    return result < 0 ? result : parallel.more;
}
