/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "burn.h"
#include "threads.h"

/*
 * Threads do not wait for each other, not even at the end of an iteration, so that all CPUs are
 * always busy. A thread that waited could wake up on the CPU of its waker while other CPUs are
 * idle, until the kernel moves it. That took 10 ms in a virtual machine.
 */

/*
 * Shares per thread and iteration. A share is short compared with an iteration, because threads are
 * idle during the last shares of the run, but long compared with the cost of taking one.
 */
#define SHARES_PER_THREAD 32
#define SHARE_UNITS_MAX   UINT64_C(500000)

struct parallel {
    struct burn *burn;
    struct ss_error *error;
    uint64_t shares; /* number of shares in one iteration */
    uint64_t share;  /* units of a share */
    uint64_t total;  /* number of shares in all iterations */
    _Atomic uint64_t taken;
    _Atomic uint64_t done;
    _Atomic int more; /* the last result of the tally */
    pthread_mutex_t counting;
};

static void count(struct parallel *parallel) {
    pthread_mutex_lock(&parallel->counting);
    if (parallel->more > 0)
        parallel->more = tally_count(&parallel->burn->tally, parallel->error);
    pthread_mutex_unlock(&parallel->counting);
}

static bool take_share(struct parallel *parallel) {
    return parallel->more > 0 && atomic_fetch_add(&parallel->taken, 1) < parallel->total;
}

static void parallel_thread(void *shared, uint64_t number) {
    struct parallel *parallel = shared;
    struct worker worker;
    work_begin(&worker, &parallel->burn->memory, number);
    while (take_share(parallel)) {
        work_do(&worker, parallel->share);
        if ((atomic_fetch_add(&parallel->done, 1) + 1) % parallel->shares == 0)
            count(parallel);
    }
}

int burn_parallel(struct burn *burn, struct ss_error *error) {
    struct parallel parallel = {
        .burn = burn, .error = error, .more = 1, .counting = PTHREAD_MUTEX_INITIALIZER};

    uint64_t requested = burn->tally.requested;
    parallel.share = burn->work / (SHARES_PER_THREAD * burn->threads) + 1;
    if (parallel.share > SHARE_UNITS_MAX)
        parallel.share = SHARE_UNITS_MAX;
    parallel.shares = (burn->work + parallel.share - 1) / parallel.share;
    parallel.share = burn->work / parallel.shares;
    parallel.total =
        requested < UINT64_MAX / parallel.shares ? requested * parallel.shares : UINT64_MAX;

    int result = threads_run(burn->threads, parallel_thread, &parallel, error);
    return result < 0 ? result : parallel.more;
}
