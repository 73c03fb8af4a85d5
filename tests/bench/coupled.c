/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A program that suffers from neighbors: its threads share the work of an iteration equally, and
 * each waits for all others at the end, without giving up its CPU for long. A neighbor that delays
 * one thread delays them all.
 */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"
#include "burn_work.h"

#define THREADS_MAX 1024

static uint64_t threads, share; /* share: units of work of a thread in an iteration */
static _Atomic uint64_t arrived, iterations;
static struct tally tally = {.requested = TALLY_ENDLESS};

/* The last thread counts the iteration and lets the others begin the next one. */
static void wait_for_all(uint64_t iteration) {
    struct ss_error error = {0};
    if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
        if (tally_count(&tally, &error) <= 0)
            exit(1);
        atomic_store(&arrived, 0);
        atomic_store(&iterations, iteration + 1);
    }
    while (atomic_load(&iterations) == iteration)
        sched_yield();
}

static void *run_thread(void *number) {
    struct work_memory memory = {0};
    struct worker worker;
    work_begin(&worker, &memory, (uint64_t)(uintptr_t)number);
    for (uint64_t iteration = 0;; iteration++) {
        work_do(&worker, share);
        wait_for_all(iteration);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct ss_error error = {0};
    threads = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    if (threads == 0 || threads > THREADS_MAX)
        return fprintf(stderr, "Usage: coupled THREADS UNITS\n"), 125;
    share = strtoull(argv[2], NULL, 10) / threads;
    if (tally_begin(&tally, share * threads, &error) < 0)
        return fprintf(stderr, "coupled: %s\n", error.message), 125;
    for (uint64_t i = 1; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_thread, (void *)(uintptr_t)i) != 0)
            return fprintf(stderr, "coupled: cannot create a thread\n"), 125;
    }
    run_thread(NULL);
    return 0;
}
